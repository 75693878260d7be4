"""The jars of a release, each one checked against its lock file.

They lie where jgo and Maven keep theirs, so all data folders share them. Each is fetched beside its place and
moved there once its hash is right: a download cut off half-way leaves nothing that looks whole, and the next
one goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from graphstore.errors import LocalServerError
from graphstore.local.progress import Advance, Progress
from graphstore.local.releases import Jar, Release

Fetch = Callable[[Jar, Path], Path]
"""Downloads a jar into an empty folder and returns its path; raises ``OSError`` when the network fails."""

Installer = Callable[[Release, Progress], list[Path]]
"""Makes sure that the jars of a release are here, and returns their paths."""

PARALLEL = 8
TRIES = 3
SPARE_BYTES = 50_000_000

INSTALL_HINT = "pip install 'conversation-graphstore[local]', or set NEO4J_URI to use another server"


def free_bytes(folder: Path) -> int:
    """Bytes free on the disk that ``folder`` is on, or will be on when it doesn't exist yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


@dataclass(frozen=True)
class Repository:
    """The folder where jgo keeps jars, and where it fetches them from (name to address)."""

    folder: Path
    remotes: dict[str, str]

    def path(self, jar: Jar) -> Path:
        """Where a jar belongs."""
        group, artifact, version, classifier = jar.parts
        name = "-".join(filter(None, (artifact, version, classifier)))
        return self.folder.joinpath(*group.split("."), artifact, version, f"{name}.jar")

    def fetch(self, jar: Jar, into: Path) -> Path:
        """Download one jar into the empty folder ``into``. Raises ``OSError``."""
        from jgo.maven import MavenContext

        group, artifact, version, classifier = jar.parts
        context = MavenContext(repo_cache=into, remote_repos=self.remotes, timeout=30)
        try:
            fetched: Path = context.project(group, artifact).at_version(version).artifact(classifier).resolve()
        except RuntimeError as error:  # jgo's word for any answer but "here it is"
            raise OSError(str(error)) from error
        return fetched


def jgo_repository() -> Repository:
    """Read jgo's own settings. Raises ``LocalServerError`` when jgo isn't installed."""
    try:
        from jgo.config import GlobalSettings
        from jgo.constants import MAVEN_CENTRAL_URL
    except ImportError as error:
        raise LocalServerError(f"the embedded server needs the package 'jgo' ({error}): {INSTALL_HINT}") from error
    settings: Any = GlobalSettings.load()
    return Repository(Path(settings.repo_cache), {"central": MAVEN_CENTRAL_URL, **settings.repositories})


def _intact(path: Path, jar: Jar) -> bool:
    try:
        if path.stat().st_size != jar.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except FileNotFoundError:
        return False


def _place(jar: Jar, repository: Repository, fetch: Fetch, staging: Path, advance: Advance) -> None:
    """Fetch one jar, check it and move it to its place."""
    for attempt in range(1, TRIES + 1):
        folder = staging / f"{jar.sha256}-{attempt}"
        try:
            fetched = fetch(jar, folder)
        except OSError:
            if attempt == TRIES:
                raise
            time.sleep(0.5 * attempt)
            continue
        if _intact(fetched, jar):
            target = repository.path(jar)
            target.parent.mkdir(parents=True, exist_ok=True)
            fetched.replace(target)
            advance(jar.size)
            return
    raise LocalServerError(
        f"{jar.coordinate!r} was downloaded {TRIES} times and is never the file it should be (its SHA-256 "
        "differs): something between here and the repository changes or cuts it; try from another network"
    )


def _refuse_full_disk(folder: Path, needed: int, free_space: Callable[[Path], int]) -> None:
    free = free_space(folder)
    if free < needed + SPARE_BYTES:
        raise LocalServerError(
            f"Neo4j's files need {(needed + SPARE_BYTES) / 1e6:.0f} MB in {str(folder)!r}, and the disk has "
            f"{free / 1e6:.0f} MB left; free some space, or set M2_REPO to a folder on another disk"
        )


def _download(version: str, missing: list[Jar], repository: Repository, fetch: Fetch, progress: Progress) -> None:
    staging = repository.folder / ".graphstore"
    shutil.rmtree(staging, ignore_errors=True)  # left by one that was killed
    with (
        progress.download(f"Downloading Neo4j {version} (once)", sum(jar.size for jar in missing)) as advance,
        ThreadPoolExecutor(PARALLEL) as pool,
    ):
        jobs = [pool.submit(_place, jar, repository, fetch, staging, advance) for jar in missing]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    shutil.rmtree(staging, ignore_errors=True)


def install(
    release: Release,
    progress: Progress,
    *,
    repository: Repository | None = None,
    fetch: Fetch | None = None,
    free_space: Callable[[Path], int] = free_bytes,
) -> list[Path]:
    """Return the paths of the release's jars, after fetching those that aren't here or are damaged.

    Raises ``LocalServerError`` when jgo is missing, the network or the disk fails, or a file is not what it
    should be.
    """
    repository = repository or jgo_repository()
    jars = release.jars()
    check = partial(_missing, jars, repository)
    try:
        if check():
            repository.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(repository.folder / ".graphstore.lock"):  # another data folder may fetch the same
                missing = check()
                if missing:
                    needed = sum(jar.size for jar in missing)
                    _refuse_full_disk(repository.folder, needed, free_space)
                    _download(release.version, missing, repository, fetch or repository.fetch, progress)
    except OSError as error:
        raise LocalServerError(
            f"Neo4j {release.version} can't be downloaded into {str(repository.folder)!r}: {error}. "
            "The first start needs the network (about 180 MB, once); connect and try again, what has come is "
            "kept. Or set NEO4J_URI to use another server"
        ) from error
    return [repository.path(jar) for jar in jars]


def _missing(jars: list[Jar], repository: Repository) -> list[Jar]:
    with ThreadPoolExecutor(PARALLEL) as pool:
        intact = list(pool.map(lambda jar: _intact(repository.path(jar), jar), jars))
    return [jar for jar, whole in zip(jars, intact, strict=True) if not whole]
