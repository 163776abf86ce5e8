"""`python -m redouble`."""

import sys

from redouble.server.main import main

if __name__ == "__main__":
    sys.exit(main())
