"""Where things are, read from the environment once and never changed."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


def _default_home() -> Path:
    return user_data_path("graphstore", appauthor=False)


class Settings(BaseSettings):
    """What the environment says; ``Settings()`` reads it.

    ``home`` is the folder of the embedded server and its data (``GRAPHSTORE_HOME``), ``workspace`` the tenant that
    commands work in (``GRAPHSTORE_WORKSPACE``). With ``neo4j_uri`` (``NEO4J_URI``) another server is used instead of
    the embedded one, with ``NEO4J_USERNAME``, ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE``. An empty variable counts as
    not set.
    """

    model_config = SettingsConfigDict(frozen=True, env_ignore_empty=True, populate_by_name=True)

    home: Path = Field(default_factory=_default_home, validation_alias="GRAPHSTORE_HOME")
    workspace: str = Field(default="default", validation_alias="GRAPHSTORE_WORKSPACE")
    neo4j_uri: str | None = Field(default=None, validation_alias="NEO4J_URI")
    neo4j_username: str = Field(default="neo4j", validation_alias="NEO4J_USERNAME")
    neo4j_password: SecretStr | None = Field(default=None, validation_alias="NEO4J_PASSWORD")
    neo4j_database: str = Field(default="neo4j", validation_alias="NEO4J_DATABASE")
