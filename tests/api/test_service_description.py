"""The OpenAPI document tells the truth: about examples, and, by generated requests, about every answer."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from pydantic import BaseModel
from schemathesis.specs.openapi.checks import positive_data_acceptance
from told import Story

from graphstore import Conversation, GraphStore, Marker, Move, Node, UnseenBranch
from graphstore.api import create_app, examples, views
from graphstore.models import ConversationSummary

pytestmark = pytest.mark.rule("H1")


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json()
    return found


@pytest.mark.parametrize(
    ("model", "example"),
    [
        (Conversation, examples.CONVERSATION),
        (ConversationSummary, examples.SUMMARY),
        (Node, examples.NODE),
        (Marker, examples.MARKER),
        (Move, examples.MOVE),
        (UnseenBranch, examples.UNSEEN_BRANCH),
        (views.ContextAnswer, examples.CONTEXT),
        (views.Readiness, examples.READINESS),
    ],
)
def test_an_example_has_every_field_and_no_other(model: type[BaseModel], example: dict[str, Any]):
    assert set(example) == {field.alias or name for name, field in model.model_fields.items()}
    model.model_validate(example)


def test_every_route_has_a_tag_a_text_an_example_and_its_problems(document: dict[str, Any]):
    tags = {tag["name"] for tag in document["tags"]}
    for address, operations in document["paths"].items():
        for operation in operations.values():
            assert set(operation["tags"]) <= tags, address
            assert operation["description"], address
            if address == "/health":
                continue
            content = operation["responses"]["200"]["content"]["application/json"]
            model = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
            assert "example" in content or "example" in model, address
            for status in ("422", "503", *(["404"] if "{" in address else [])):
                problem = operation["responses"][status]["content"]["application/problem+json"]
                assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}, address
    assert "Problem" in document["components"]["schemas"]


def test_a_description_asked_for_twice_is_the_same(client: TestClient, document: dict[str, Any]):
    assert client.get("/openapi.json").json() == document


@pytest.mark.rule("H3")
def test_answers_to_generated_requests_are_as_described(store: GraphStore, story: Story):
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(store))
    for found in schema.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def answered(case: schemathesis.Case) -> None:
            # A key that no page gave is refused, and no schema can tell those that one gave.
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        answered()
