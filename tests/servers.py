"""Which Neo4j the tests run on, and how it starts and ends.

In this order: the one that NEO4J_URI names; a container, where a Docker engine answers and has the image or can get
it; the embedded server, in a home of its own (GRAPHSTORE_TEST_HOME, else a temporary folder). With pytest-xdist the
controller chooses and cleans up, and the workers learn the choice through the environment.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import DriverError

from graphstore.local import DEFAULT_VERSION, Endpoint, LocalServer
from graphstore.settings import Settings

IMAGE = f"neo4j:{DEFAULT_VERSION}-community"
ENGINE_SECONDS = 3
PULL_SECONDS = 120
CONTAINER_SECONDS = 120
HOME_VARIABLE = "GRAPHSTORE_TEST_HOME"


class Choice(ABC):
    """A server to test on. ``endpoint`` starts it if need be; ``close`` ends what ``endpoint`` started."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is printed about it."""

    @abstractmethod
    def endpoint(self) -> Endpoint:
        """Return how to connect. Raises when the server can't be had."""

    @abstractmethod
    def close(self) -> None:
        """Leave nothing behind."""


class Named(Choice):
    """The server that NEO4J_URI names; left as it is."""

    def __init__(self, settings: Settings) -> None:
        assert settings.neo4j_uri is not None
        password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
        self._endpoint = Endpoint(settings.neo4j_uri, settings.neo4j_username, password)

    @property
    def words(self) -> str:
        return f"the Neo4j at {self._endpoint.uri} (NEO4J_URI)"

    def endpoint(self) -> Endpoint:
        return self._endpoint

    def close(self) -> None:
        pass


class Container(Choice):
    """A container of our own. Workers of pytest-xdist see it as the server that NEO4J_URI names."""

    def __init__(self) -> None:
        self._container: Any = None

    @property
    def words(self) -> str:
        return f"a container of {IMAGE}"

    def endpoint(self) -> Endpoint:
        from testcontainers.core.container import DockerContainer

        password = "only-for-tests"
        if self._container is None:
            new = DockerContainer(IMAGE).with_env("NEO4J_AUTH", f"neo4j/{password}").with_exposed_ports(7687)
            self._container = new.start()
        host, port = self._container.get_container_host_ip(), self._container.get_exposed_port(7687)
        endpoint = Endpoint(f"bolt://{host}:{port}", "neo4j", password)
        connects(endpoint, CONTAINER_SECONDS)
        return endpoint

    def share(self) -> None:
        """Start now, and name the server to the workers."""
        endpoint = self.endpoint()
        os.environ |= {
            "NEO4J_URI": endpoint.uri,
            "NEO4J_USERNAME": endpoint.username,
            "NEO4J_PASSWORD": endpoint.password,
        }

    def close(self) -> None:
        if self._container is not None:
            self._container.stop()


class Embedded(Choice):
    """The embedded server; one that ran before the tests goes on running."""

    def __init__(self) -> None:
        named = os.environ.get(HOME_VARIABLE)
        self._temporary = not named
        self.home = Path(named or tempfile.mkdtemp(prefix="graphstore-tests-"))
        os.environ[HOME_VARIABLE] = str(self.home)  # for the workers
        self._server = LocalServer.from_settings(Settings(home=self.home))
        self._ran_before = self._server.status().running

    @property
    def words(self) -> str:
        return f"the embedded Neo4j {DEFAULT_VERSION} in {self.home}"

    def endpoint(self) -> Endpoint:
        return self._server.ensure()

    def close(self) -> None:
        if not self._ran_before:
            self._server.stop()
        if self._temporary:
            shutil.rmtree(self.home, ignore_errors=True)
            del os.environ[HOME_VARIABLE]


def _docker_has_image() -> bool:
    """Tell whether a Docker engine answers and has our image, or gets it; quiet and quick when it doesn't."""
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")  # we end our container ourselves
    try:
        import docker
        from docker.errors import DockerException, ImageNotFound
    except ImportError:
        return False
    try:
        client = docker.from_env(timeout=ENGINE_SECONDS)
        client.ping()
    except DockerException:
        return False
    try:
        client.images.get(IMAGE)
    except ImageNotFound:
        return _pulled()
    except DockerException:
        return False
    return True


def _pulled() -> bool:
    import docker
    from docker.errors import DockerException

    done: list[bool] = []

    def pull() -> None:
        try:
            docker.from_env(timeout=PULL_SECONDS).images.pull(IMAGE)
        except DockerException:
            return
        done.append(True)

    thread = threading.Thread(target=pull, daemon=True)
    thread.start()
    thread.join(PULL_SECONDS)
    return bool(done)


def choose() -> Choice:
    """Decide on a server; starts none."""
    settings = Settings()
    if settings.neo4j_uri is not None:
        return Named(settings)
    # A home that was named is meant; and a worker must not decide otherwise than its controller did.
    if HOME_VARIABLE not in os.environ and _docker_has_image():
        return Container()
    return Embedded()


def connects(endpoint: Endpoint, seconds: float = 0) -> None:
    """Return when the server lets us in; raise its last word when it doesn't within ``seconds``."""
    deadline = time.monotonic() + seconds
    with GraphDatabase.driver(endpoint.uri, auth=(endpoint.username, endpoint.password)) as driver:
        while True:
            try:
                return driver.verify_connectivity()
            except DriverError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.5)


def started(choice: Choice, session: pytest.Session) -> Endpoint:
    """Return a server that answers; when there is none, no test can run: the whole run ends with the reason."""
    try:
        endpoint = choice.endpoint()
        connects(endpoint)
        return endpoint
    except Exception as error:  # noqa: BLE001 - whatever it is, the reason is printed and the run ends
        reason = f"the tests need {choice.words}, and it can't be had: {error}"
    if hasattr(session.config, "workerinput"):  # a worker's exit would reach the controller without its reason
        session.shouldfail = reason
        pytest.fail(reason, pytrace=False)
    pytest.exit(reason, returncode=3)
