"""How the set-up speaks: one line, to a person. Runs on any Python from 3.6 on."""

import sys


class OneLine(SystemExit):
    """A reason to stop that a person can act on; its text is the whole message.

    As a SystemExit it needs no handler: Python prints the text and exits with status 1.
    """


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


def complain(text: str, status: int) -> int:
    """Print a line where problems go, and hand the exit status through."""
    print(text, file=sys.stderr, flush=True)
    return status


def last_line(output: str) -> str:
    """The last line of an output that is not empty: where installers put the reason."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
