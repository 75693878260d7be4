"""What happens to blocks that no longer fit, by pure functions (rule P1)."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.errors import InvalidInput
from graphstore.reasoning import (
    PROVIDERS,
    SKIPPED_SIGNATURE,
    Block,
    Origin,
    Stretch,
    checked,
    is_signed,
    judged,
    permitted,
    without,
)
from graphstore.rendering import render

pytestmark = pytest.mark.rule("P1")

Json = dict[str, Any]

ASKED = {"type": "message", "role": "user", "content": "q"}
ANSWERED = {"type": "message", "role": "assistant", "content": "a"}
THOUGHT = {"type": "reasoning", "text": "hm", "signature": "sig"}
SIGNED_CALL = {
    "type": "tool_call",
    "call_id": "c",
    "name": "f",
    "arguments": "{}",
    "extra": {"gemini": {"thoughtSignature": "c2ln"}},
}
RESULT = {"type": "tool_result", "call_id": "c", "output": "1"}
OTHER_PREFIX = Block(1, "n", ("prefix",), running=True)


def thought_of(origin: Origin, target: Origin, dropped: tuple[int, ...] = ()) -> Block:
    stretch = Stretch("n", "sent", "returned", [ASKED], [THOUGHT, ANSWERED])
    [block] = judged([stretch], [], {"n": origin}, target, dropped)
    return block


@pytest.mark.parametrize(
    ("item", "signed"),
    [
        (THOUGHT, True),
        ({"type": "reasoning", "encrypted": "E"}, True),
        ({"type": "reasoning", "text": "said aloud"}, False),
        (SIGNED_CALL, True),
        ({**SIGNED_CALL, "extra": {"anthropic": {}}}, False),
        ({**ANSWERED, "content": [{"type": "text", "text": "", "extra": SIGNED_CALL["extra"]}]}, True),
        (ANSWERED, False),
    ],
)
def test_signed_is_what_a_provider_checks(item: Json, signed: bool) -> None:
    assert is_signed(item) is signed


@pytest.mark.parametrize(
    ("origin", "target", "changes"),
    [
        (Origin("p", "m", "s", "t"), Origin("p", "m", "s", "t"), ()),
        (Origin("p", "m"), Origin("p", "other"), ("model",)),
        (Origin("p", "m"), Origin("other", "other"), ("provider", "model")),
        (Origin("p", "m", "s"), Origin(None, None, "new"), ("system",)),
        (Origin(tools_hash="t"), Origin(), ("tools",)),
        (Origin(context_hash="of something else"), Origin(), ("prefix",)),
    ],
)
def test_a_block_names_what_changed(origin: Origin, target: Origin, changes: tuple[str, ...]) -> None:
    assert thought_of(origin, target).changes == changes


def test_what_pairing_leaves_out_before_a_block_changes_its_prefix() -> None:
    earlier = Stretch("m", "sent", "returned", [ASKED], [{**SIGNED_CALL, "extra": {}}])
    later = Stretch("n", "sent", "returned", [ASKED], [THOUGHT, ANSWERED])
    [block] = judged([earlier, later], [], {}, Origin(), [1])
    assert (block.changes, block.index, block.node_id) == (("prefix",), 2, "n")


def test_a_block_is_running_until_the_next_question() -> None:
    assert thought_of(Origin(), Origin()).running
    stretch = Stretch("n", "sent", "returned", [ASKED], [THOUGHT, ANSWERED])
    assert not judged([stretch], [ASKED], {}, Origin(), [])[0].running
    assert judged([stretch], [RESULT], {}, Origin(), [])[0].running


class TestDropping:
    def test_only_blocks_that_no_longer_fit_go(self) -> None:
        items = [ASKED, THOUGHT, ANSWERED, ASKED, THOUGHT, ANSWERED]
        assert without(items, [OTHER_PREFIX, Block(4, "m", (), True)]) == [ASKED, ANSWERED, *items[3:]]

    def test_a_signed_call_stays_without_its_signature(self) -> None:
        before = dict(SIGNED_CALL)
        call = without([ASKED, SIGNED_CALL, RESULT], [OTHER_PREFIX])[1]
        assert call == {**SIGNED_CALL, "extra": {"gemini": {}}}
        assert before == SIGNED_CALL

    def test_openai_is_not_pointed_to_items_stored_with_the_reasoning(self) -> None:
        thought = {"type": "reasoning", "encrypted": "E", "extra": {"openai-responses": {"id": "rs_1"}}}
        answer = {**ANSWERED, "extra": {"openai-responses": {"id": "msg_1", "phase": "final"}}}
        sent = render(without([ASKED, thought, answer, ASKED, answer], [OTHER_PREFIX]), "openai-responses")["input"]
        assert "rs_1" not in str(sent)
        assert [item.get("id") for item in sent] == [None, None, None, "msg_1"]
        assert sent[1]["phase"] == "final"


class TestPermissions:
    def test_gemini_is_told_to_skip_what_the_running_turn_lost(self) -> None:
        earlier = [ASKED, {**SIGNED_CALL, "extra": {}}, RESULT, ANSWERED]
        items = without([*earlier, ASKED, SIGNED_CALL, RESULT], [Block(5, "n", ("model",), True)])
        request = permitted(render(items, "gemini"), "gemini", "drop", None, [OTHER_PREFIX])
        signatures = [part.get("thoughtSignature") for content in request["contents"] for part in content["parts"]]
        assert signatures == [None, None, None, None, None, SKIPPED_SIGNATURE, None]

    def test_anthropic_is_allowed_to_drop_them_where_the_model_knows_the_word(self) -> None:
        def asked_of(model: str | None) -> Any:
            return permitted({"messages": []}, "anthropic", "keep", model, [OTHER_PREFIX]).get("thinking")

        assert asked_of("claude-opus-5-5")["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
        assert asked_of("claude-sonnet-4-5") is None
        assert asked_of(None) is None

    @pytest.mark.parametrize("shape", ["anthropic", "gemini", "openai-chat", "items"])
    def test_a_request_whose_blocks_fit_is_left_alone(self, shape: str) -> None:
        request = render([ASKED, THOUGHT], shape)
        assert permitted(request, shape, "keep", "claude-opus-5-5", [Block(1, "n", (), True)]) is request


def test_every_providers_rule_has_its_source() -> None:
    assert all(rule.sources and all(url.startswith("https://") for url in rule.sources) for rule in PROVIDERS.values())


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'forget' is not a policy"):
        checked("forget")
