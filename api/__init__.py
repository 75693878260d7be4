"""The HTTP service: ``create_app(store)`` gives a FastAPI application on one workspace."""

from graphstore.api.main import create_app

__all__ = ["create_app"]
