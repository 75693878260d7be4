"""What is shown while the server is fetched, started or stopped: on standard error, and only to a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars


class Advance(Protocol):
    """Tells that ``by`` more bytes have come."""

    def __call__(self, by: int) -> None:
        """Move on."""
        ...


class Progress(Protocol):
    """Where the server's steps are told; implement it to show them elsewhere."""

    def step(self, what: str) -> AbstractContextManager[None]:
        """Show ``what`` for as long as the context lasts."""
        ...

    def download(self, what: str, total: int) -> AbstractContextManager[Advance]:
        """Show ``what`` with a bar of ``total`` bytes; the context gives the function that moves it."""
        ...

    def note(self, message: str) -> None:
        """Say something that remains."""
        ...


class Silent:
    """Shows nothing: for programs, and for output that goes to a file."""

    @contextmanager
    def step(self, what: str) -> Iterator[None]:  # noqa: ARG002 - the protocol's shape
        """Show nothing."""
        yield

    @contextmanager
    def download(self, what: str, total: int) -> Iterator[Advance]:  # noqa: ARG002 - the protocol's shape
        """Show nothing."""
        yield lambda by: None  # noqa: ARG005 - the protocol's shape

    def note(self, message: str) -> None:
        """Say nothing."""


class Terminal:
    """Spinners and bars on ``console``; they vanish when their step is done."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show a spinner and the time since the step began."""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Bars(*columns, console=self._console, transient=True) as bars:
            bars.add_task(what)
            yield

    @contextmanager
    def download(self, what: str, total: int) -> Iterator[Advance]:
        """Show a bar that counts bytes."""
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
        with Bars(*columns, console=self._console, transient=True) as bars:
            task = bars.add_task(what, total=total)
            yield lambda by: bars.advance(task, by)

    def note(self, message: str) -> None:
        """Print a line that stays."""
        self._console.print(message)


def terminal_progress() -> Progress:
    """Return progress on standard error when a person looks at it, else one that shows nothing."""
    console = Console(stderr=True)
    return Terminal(console) if console.is_terminal else Silent()
