"""REDOUBLE LINT: arguments and replies. The rules are told in `engine/powers/lint_rules.py` and `lint.py`."""

from typing import Final

from redouble.commands.controls import CONTROL
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.engine.powers.lint import Finding
from redouble.errors import CommandError
from redouble.protocol.reply import OK, Map, Reply

controls_lint: Final = Family("server")

_FORMS: Final = b"ERR unknown form of REDOUBLE LINT. Use ON [rule ...], REPORT or OFF"


@controls_lint.command(
    "redouble|lint", "<ON [rule [rule ...]] | REPORT | OFF>",
    "Looks for what works here, but would not in a cluster, under load or for ever.", arity=-3, flags=CONTROL,
    since="1.0.0", complexity="O(N) with N being the number of findings.",
)  # fmt: skip
def redouble_lint(ctx: Context, argv: list[bytes]) -> Reply:
    """ON, OFF: OK. REPORT: a map for each finding."""
    lint = ctx.engine.lint
    word = argv[2].upper()
    if word == b"ON":
        lint.enable(argv[3:])
    elif word == b"OFF" and len(argv) == 3:
        lint.disable()
    elif word == b"REPORT" and len(argv) == 3:
        return [_described(finding) for finding in lint.findings()]
    else:
        raise CommandError(_FORMS)
    return OK


def _described(finding: Finding) -> Map:
    return Map([
        b"rule", finding.rule, b"count", finding.count, b"command", finding.command,
        b"script", finding.script or None, b"detail", finding.detail, b"example", finding.example,
        b"client-id", finding.client_id, b"client-name", finding.client_name, b"address", finding.address,
        b"instead", finding.advice,
    ])  # fmt: skip
