# Redouble with its inner rooms compiled. Build and run:
#   docker build -t redouble . && docker run --rm -p 6379:6379 redouble
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml setup.py README.md ./
COPY redouble redouble
RUN REDOUBLE_COMPILE=1 pip wheel --no-cache-dir --wheel-dir /wheels .

FROM python:3.11-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels redouble && rm -rf /wheels \
    && useradd --system --no-create-home redouble
USER redouble
EXPOSE 6379
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
    CMD ["python", "-c", "import socket; s = socket.create_connection(('127.0.0.1', 6379), 2); s.sendall(b'PING\\r\\n'); assert s.recv(16).startswith((b'+PONG', b'-NOAUTH'))"]
ENTRYPOINT ["redouble"]
CMD ["--bind", "0.0.0.0", "--port", "6379", "--protected-mode", "no"]
