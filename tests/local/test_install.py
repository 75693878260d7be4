"""The jars come whole or not at all, and only once."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from graphstore.errors import LocalServerError
from graphstore.local import Silent
from graphstore.local.install import Repository, install
from graphstore.local.releases import DEFAULT_VERSION, Jar, Release, find_release

pytestmark = pytest.mark.rule("L1")

CONTENT = {"org.example:one:1.0": b"first jar", "org.example:two:2.0:linux-x86_64": b"second jar, longer"}


class SmallRelease(Release):
    def jars(self) -> list[Jar]:
        return [Jar(name, hashlib.sha256(body).hexdigest(), len(body)) for name, body in CONTENT.items()]


RELEASE = SmallRelease("2026.08.1", "org.example.Main", (21, None))


class Remote:
    """Stands for the network: gives ``content``, remembers what was asked for."""

    def __init__(self, content: dict[str, bytes] = CONTENT) -> None:
        self.content = content
        self.asked: list[str] = []

    def __call__(self, jar: Jar, into: Path) -> Path:
        self.asked.append(jar.coordinate)
        if jar.coordinate not in self.content:
            raise ConnectionError("Name or service not known")
        into.mkdir(parents=True)
        path = into / "fetched.jar"
        path.write_bytes(self.content[jar.coordinate])
        return path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository", {})


def get(repository: Repository, remote: Remote, free: int = 10**10) -> list[Path]:
    return install(RELEASE, Silent(), repository=repository, fetch=remote, free_space=lambda _: free)


def test_jars_lie_where_maven_keeps_them_and_are_fetched_once(repository: Repository) -> None:
    remote = Remote()
    paths = get(repository, remote)
    assert [str(path.relative_to(repository.folder)) for path in paths] == [
        "org/example/one/1.0/one-1.0.jar",
        "org/example/two/2.0/two-2.0-linux-x86_64.jar",
    ]
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    get(repository, remote)
    assert sorted(remote.asked) == sorted(CONTENT)
    assert not (repository.folder / ".graphstore").exists()


def test_without_network_the_error_says_what_to_do_and_what_came_is_kept(repository: Repository) -> None:
    first, second = CONTENT
    with pytest.raises(LocalServerError, match=r"Name or service not known.*connect and try again.*NEO4J_URI"):
        get(repository, Remote({first: CONTENT[first]}))
    later = Remote()
    get(repository, later)
    assert later.asked == [second]


def test_a_damaged_jar_is_fetched_again(repository: Repository) -> None:
    paths = get(repository, Remote())
    paths[0].write_bytes(b"first jaR")
    remote = Remote()
    assert get(repository, remote)[0].read_bytes() == b"first jar"
    assert remote.asked == ["org.example:one:1.0"]


def test_a_jar_with_another_hash_is_never_put_in_place(repository: Repository) -> None:
    with pytest.raises(LocalServerError, match=r"'org.example:one:1.0'.*SHA-256"):
        get(repository, Remote({**CONTENT, "org.example:one:1.0": b"evil jar!"}))
    assert not (repository.folder / "org/example/one/1.0/one-1.0.jar").exists()


def test_a_full_disk_is_told_before_anything_is_fetched(repository: Repository) -> None:
    remote = Remote()
    with pytest.raises(LocalServerError, match=r"50 MB.*the disk has 1 MB left.*M2_REPO"):
        get(repository, remote, free=1_000_000)
    assert remote.asked == []


def test_without_jgo_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jgo.config", None)
    with pytest.raises(LocalServerError, match=r"'jgo'.*conversation-graphstore\[local\].*NEO4J_URI"):
        install(RELEASE, Silent())


def test_the_lock_file_names_every_jar_of_the_default_release_once() -> None:
    jars = find_release(DEFAULT_VERSION).jars()
    assert len({jar.coordinate for jar in jars}) == len(jars) > 200
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in jars)
    assert f"org.neo4j.app:neo4j-server:{DEFAULT_VERSION}" in {jar.coordinate for jar in jars}


def test_an_unknown_release_is_refused_by_name() -> None:
    with pytest.raises(LocalServerError, match=r"'1.2.3' can't be run"):
        find_release("1.2.3")
