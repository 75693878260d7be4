"""What a command ends with. One table, read by the program's one door and printed in its help.

An exit code tells a script what kind of thing went wrong; the sentence on standard error tells a person.
"""

from __future__ import annotations

from graphstore.errors import (
    GraphStoreError,
    InvalidInput,
    NotFound,
    ServerError,
    SourceUnreadable,
)

OK = 0
FAILED = 1
USAGE = 2
NOT_FOUND = 3
SERVER = 4
UNREADABLE = 5
INTERRUPTED = 130
PIPE_CLOSED = 141

MEANING = {
    OK: "done",
    FAILED: "refused or failed; nothing already stored is lost",
    USAGE: "the command was not understood, or was given something it can't take",
    NOT_FOUND: "no such conversation or node in this workspace",
    SERVER: "the server can't be reached or started, or its schema doesn't fit this program",
    UNREADABLE: "a file to import can't be read at all",
    INTERRUPTED: "stopped by Ctrl-C",
    PIPE_CLOSED: "whoever read the output closed it (as in `graphstore ls | head -1`)",
}

_BY_ERROR: tuple[tuple[type[BaseException], int], ...] = (
    (InvalidInput, USAGE),
    (NotFound, NOT_FOUND),
    (ServerError, SERVER),
    (SourceUnreadable, UNREADABLE),
    (GraphStoreError, FAILED),
    (OSError, FAILED),
)


def code_of(error: BaseException) -> int:
    """The exit code of an error; the first line of the table that fits."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), FAILED)


def epilog() -> str:
    """The table as a paragraph of ``graphstore --help``."""
    return "Exit codes:  " + "  ·  ".join(f"{code} {meaning}" for code, meaning in MEANING.items())
