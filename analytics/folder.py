"""The folder an export is written into: whole files or none, and never over somebody else's."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from graphstore.errors import InvalidInput

MANIFEST = "manifest.json"
CARD = "README.md"
PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file of an export."""

    name: str
    sha256: str
    bytes: int


def prepare(out: Path, names: Iterable[str]) -> None:
    """Make the folder, or take an empty one or one that holds an earlier export of the same files.

    Raises ``InvalidInput`` when there is anything else in it, or when it can't be written.
    """
    if out.exists() and not out.is_dir():
        raise InvalidInput(f"{str(out)!r} is a file; name a folder to export into")
    try:
        out.mkdir(parents=True, exist_ok=True)
        there = {entry.name for entry in out.iterdir() if not entry.name.endswith(PARTIAL)}
    except OSError as error:
        raise InvalidInput(f"the folder {str(out)!r} can't be used: {error.strerror}; name another one") from None
    foreign = sorted(there - set(names)) if MANIFEST in there else sorted(there)
    if foreign:
        raise InvalidInput(
            f"the folder {str(out)!r} holds {foreign[0]!r}, which is not of an earlier export of this kind; "
            "name an empty folder or a new one"
        )
    if not os.access(out, os.W_OK | os.X_OK):
        raise InvalidInput(f"the folder {str(out)!r} is not writable for this user; name another one")


def write(out: Path, name: str, lines: Iterable[bytes]) -> WrittenFile:
    """Write a file a line at a time under a temporary name, then put it in place at once.

    Raises ``InvalidInput`` when the disk refuses.
    """
    partial = out / f".{name}{PARTIAL}"
    digest, size = hashlib.sha256(), 0
    try:
        with partial.open("wb") as file:
            for line in lines:
                file.write(line)
                digest.update(line)
                size += len(line)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(out / name)
    except OSError as error:
        raise InvalidInput(f"{str(out / name)!r} can't be written: {error.strerror}; free space or rights") from None
    finally:
        partial.unlink(missing_ok=True)
    return WrittenFile(name, digest.hexdigest(), size)
