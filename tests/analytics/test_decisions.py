"""Which candidates are pairs, why the others are none, and how strong a choice is; decided without a store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphstore.analytics.preferences import AcceptedPath, BranchPoint, LeftOut, Pair, PathMove, Reply, decide


def reply(id: str, created: int = 1, **fields: Any) -> Reply:
    defaults: dict[str, Any] = {
        "kind": "turn",
        "status": "succeeded",
        "sent_hash": "question",
        "turn_id": id,
        "conversation_id": "c",
        "made": "2026-01-01T00:00:00Z",
        "context_hash": "context",
        "last": created,
    }
    return Reply(id=id, created=created, **defaults | fields)


def imported(id: str, created: int, **fields: Any) -> Reply:
    return reply(id, created, context_hash=None, **fields)


def path(chosen: Reply, *siblings: Reply, later: tuple[int, ...] = (), **fields: Any) -> AcceptedPath:
    """A path whose root is the branch point; ``later`` are the times of the turns after it."""
    branch = BranchPoint(0, None, chosen, siblings)
    times = (chosen.created, *later)
    newest = max([*times, *(sibling.last for sibling in siblings)])
    defaults: dict[str, Any] = {"moves": (PathMove(0, 9, "2026-01-02T00:00:00Z", "turn", "ann"),), "guessed": False}
    return AcceptedPath(
        conversation_id="c",
        source=None,
        root_id=chosen.id,
        times=times,
        turns=tuple(range(len(times))),
        newest=newest,
        branches=(branch,),
        **defaults | fields,
    )


def reason(told: AcceptedPath, include: tuple[str, ...] = ()) -> str | None:
    group = decide(told, told.branches[0], include)
    return group.left_out[0][1].value if group.left_out else None


def pair(told: AcceptedPath) -> Pair:
    (found,) = decide(told, told.branches[0]).pairs
    return found


OLD = reply("old", 1, moves=(1,))
NEW = reply("new", 2)


@pytest.mark.rule("N5")
class TestNeverNegatives:
    @pytest.mark.parametrize(
        ("changed", "expected"),
        [
            ({"deleted": True}, "tombstoned"),
            ({"kind": "conversion"}, "conversion"),
            ({"kind": "compaction"}, "compaction"),
            ({"accepted": True}, "accepted"),
            ({"status": "pending"}, "pending"),
            ({"status": "failed"}, "failed"),
            ({"finish_reason": "cancelled"}, "cancelled"),
            ({"finish_reason": "length"}, "truncated"),
            ({"finish_reason": "max_tokens"}, "truncated"),
            ({"finish_reason": "MAX_TOKENS"}, "truncated"),
            ({"finish_reason": "content_filter"}, "moderated"),
            ({"finish_reason": "SAFETY"}, "moderated"),
        ],
    )
    def test_each_kind_of_call_that_nobody_rejected_has_its_reason(self, changed, expected):
        assert reason(path(NEW, replace(OLD, **changed))) == expected

    @pytest.mark.parametrize(
        ("changed", "expected"),
        [
            ({"kind": "compaction"}, "chosen_not_a_turn"),
            ({"status": "failed"}, "chosen_failed"),
            ({"status": "pending"}, "chosen_pending"),
            ({"finish_reason": "cancelled"}, "chosen_cancelled"),
            ({"finish_reason": "length"}, "chosen_truncated"),
            ({"finish_reason": "content_filter"}, "chosen_moderated"),
        ],
    )
    def test_an_accepted_call_that_is_no_whole_answer_is_not_chosen_over_anything(self, changed, expected):
        assert reason(path(replace(NEW, **changed), OLD)) == expected

    def test_a_normal_end_is_no_reason(self):
        assert reason(path(NEW, replace(OLD, finish_reason="stop"))) is None

    def test_a_branch_that_was_never_current_was_not_rejected_by_anyone(self):
        assert reason(path(NEW, replace(OLD, moves=()))) == "never_current"

    def test_the_newest_leaf_of_an_imported_conversation_that_nobody_left_is_censored(self):
        assert reason(path(imported("old", 1), imported("new", 2))) == "censored"

    def test_it_is_censored_by_its_whole_branch_not_by_its_first_answer(self):
        assert reason(path(imported("old", 1), imported("new", 2, last=9), later=(5,))) == "censored"

    def test_it_is_rejected_once_the_older_answer_was_gone_on_with(self):
        assert reason(path(imported("old", 1), imported("new", 2), later=(5,))) is None

    def test_it_is_rejected_once_a_move_led_out_of_it(self):
        assert reason(path(imported("old", 1), imported("new", 2, moves=(3,)))) is None

    def test_a_guessed_end_of_a_conversation_is_no_choice(self):
        told = path(imported("new", 2), imported("old", 1), guessed=True)
        assert reason(told) == "guessed_cursor"
        assert reason(told, include=("guessed_cursor",)) is None


@pytest.mark.rule("N3")
class TestTheSameContext:
    def test_an_edited_question_is_never_a_pair(self):
        assert reason(path(NEW, replace(OLD, sent_hash="another", context_hash="other"))) == "edited_question"

    def test_the_same_question_in_another_context_is_never_a_pair(self):
        assert reason(path(NEW, replace(OLD, context_hash="other"))) == "context_mismatch"

    def test_equal_fingerprints_verify_the_context(self):
        assert pair(path(NEW, OLD)).context_verified is True

    def test_without_fingerprints_the_parent_and_the_question_count_and_the_row_says_so(self):
        assert pair(path(imported("new", 2), imported("old", 1))).context_verified is False

    def test_without_fingerprints_another_system_prompt_still_tells_contexts_apart(self):
        told = path(imported("new", 2, system_hash="one"), imported("old", 1, system_hash="two"))
        assert reason(told) == "context_mismatch"

    def test_another_model_or_other_parameters_are_the_same_context(self):
        assert reason(path(NEW, replace(OLD, model="other", parameters_hash="hot"))) is None


@pytest.mark.rule("N6")
class TestHowStrongTheChoiceIs:
    def test_going_on_after_the_newer_answer_is_grade_a(self):
        found = pair(path(NEW, OLD, later=(3,)))
        assert (found.evidence, found.grade, found.turns_after) == ("continued", "A", 1)

    def test_an_answer_that_is_only_the_newest_is_weak(self):
        found = pair(path(NEW, OLD))
        assert (found.evidence, found.grade) == ("newest_only", "C")

    def test_going_back_to_an_older_answer_by_a_move_is_a_return(self):
        found = pair(path(reply("old", 1), reply("new", 2, moves=(3,))))
        assert (found.evidence, found.grade) == ("returned_to_older", "B")

    def test_an_imported_older_answer_that_was_gone_on_with_later_is_a_return(self):
        found = pair(path(imported("old", 1), imported("new", 2), later=(5,)))
        assert (found.evidence, found.grade) == ("returned_to_older", "A")

    def test_an_imported_leaf_is_leaf_only(self):
        assert pair(path(imported("new", 2), imported("old", 1))).evidence == "leaf_only"

    def test_a_person_who_wrote_the_answer_chose_it(self):
        found = pair(path(replace(NEW, author="person"), OLD))
        assert (found.kind, found.grade) == ("assistant_edit", "B")

    def test_who_chose_and_when_come_from_the_move_that_entered_the_branch(self):
        moves = (PathMove(0, 1, "first", "turn", "bob"), PathMove(0, 5, "back", "switch", "ann"))
        found = pair(path(reply("old", 1), reply("new", 2, moves=(3,)), moves=moves))
        assert (found.chosen_by, found.chosen_at, found.chosen_move) == ("ann", "back", "switch")

    def test_an_import_is_nobodys_choice(self):
        told = path(imported("new", 2), imported("old", 1), moves=(PathMove(0, 1, "then", "import", "ann"),))
        assert pair(told).chosen_by is None


@pytest.mark.rule("N10")
def test_every_reason_has_one_place_in_the_order():
    """A candidate with several reasons is counted once, under the first."""
    told = path(replace(NEW, status="failed"), replace(OLD, deleted=True, status="failed", sent_hash="another"))
    assert reason(told) == "tombstoned"
    assert len({reason.value for reason in LeftOut}) == len(LeftOut)
