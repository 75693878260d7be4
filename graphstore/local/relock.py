"""Write the lock file of a Neo4j release: ``python -m graphstore.local.relock VERSION`` (for developers)."""

from __future__ import annotations

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# The server, and the bridge that carries its libraries' log lines into its own log.
ROOTS = ("org.neo4j:neo4j", "org.neo4j.app:neo4j-server", "org.neo4j:neo4j-slf4j-provider")


def _lock_line(artifact: Any) -> str:
    content = artifact.resolve().read_bytes()
    if artifact.packaging != "jar":
        raise SystemExit(f"{artifact} is no jar: the lock file has no way to say so yet")
    coordinate = f"{artifact.groupId}:{artifact.artifactId}:{artifact.version}"
    if artifact.classifier:
        coordinate += f":{artifact.classifier}"
    return f"{coordinate} {hashlib.sha256(content).hexdigest()} {len(content)}"


def relock(version: str) -> Path:
    """Resolve all jars of ``version`` (minutes), and write down what they are."""
    from jgo.maven import MavenContext, PythonResolver
    from jgo.parse import Coordinate

    context = MavenContext(resolver=PythonResolver())
    wanted = [context.create_dependency(Coordinate.parse(f"{root}:{version}")) for root in ROOTS]
    inputs, others = context.resolver.resolve(wanted)
    artifacts = {
        each.artifact.key: each.artifact
        for each in [*inputs, *others]
        if each in inputs or each.scope in ("compile", "runtime")
    }
    with ThreadPoolExecutor(8) as pool:
        lines = sorted(pool.map(_lock_line, artifacts.values()))
    path = Path(__file__).with_name("locks") / f"neo4j-{version}.lock"
    path.write_text(f"# Neo4j {version}: coordinate, SHA-256, bytes\n" + "\n".join(lines) + "\n", "ascii")
    return path


if __name__ == "__main__":
    sys.stdout.write(f"{relock(sys.argv[1])}\n")
