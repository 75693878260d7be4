"""Requests that take effect once, however often they are sent and to whom (rule H2)."""

from __future__ import annotations

import uuid

import pytest

from graphstore.store.requests import Answer, OnceOnly, sweep

pytestmark = pytest.mark.rule("H2")
DONE = Answer(201, ("content-type", "application/json"), b'{"id":"\xf0\x9f\x8c\xb3"}')


@pytest.fixture
def once(store):
    return OnceOnly(store.session)


def test_who_comes_later_is_given_the_first_answer(once, new_process_store):
    assert once.claim("k", "body", "a") == "ok"
    assert once.claim("k", "body", "b") == "running"
    once.answer("k", "a", DONE)
    assert OnceOnly(new_process_store().session).claim("k", "body", "c") == DONE


def test_another_request_with_the_same_key_is_refused_before_and_after_the_answer(once):
    once.claim("k", "body", "a")
    assert once.claim("k", "other body", "b") == "other"
    once.answer("k", "a", DONE)
    assert once.claim("k", "other body", "b") == "other"


def test_whoever_claimed_it_may_claim_again(once):
    assert [once.claim("k", "body", "a"), once.claim("k", "body", "a")] == ["ok", "ok"]


def test_a_claim_whose_holder_died_runs_out_and_its_late_answer_changes_nothing(once, monkeypatch):
    once.claim("k", "body", "a")
    monkeypatch.setattr("graphstore.store.requests.LEASE_SECONDS", 0)
    assert once.claim("k", "body", "b") == "ok"
    once.answer("k", "a", DONE)
    monkeypatch.undo()
    assert once.claim("k", "body", "c") == "running"
    once.answer("k", "b", DONE)
    assert once.claim("k", "body", "c") == DONE


def test_what_did_nothing_may_be_tried_again(once):
    once.claim("k", "body", "a")
    once.let_go("k", "a")
    assert once.claim("k", "other body", "b") == "ok"


def test_an_answer_is_not_taken_back(once):
    once.claim("k", "body", "a")
    once.answer("k", "a", DONE)
    once.let_go("k", "a")
    once.answer("k", "a", Answer(500, (), b""))
    assert once.claim("k", "body", "b") == DONE


def test_keys_are_told_apart_by_workspace(store, once):
    once.claim("k", "body", "a")
    assert OnceOnly(store.in_workspace(f"other-{uuid.uuid4().hex}").session).claim("k", "body", "b") == "ok"


def test_old_answers_are_swept_and_new_ones_stay(store, once, cypher):
    for key in ("old", "new"):
        once.claim(key, "body", "a")
        once.answer(key, "a", DONE)
    cypher("MATCH (r:Request {workspace: $workspace, key: 'old'}) SET r.claimed_at = r.claimed_at - duration('P2D')")
    assert sweep(store.session.database) >= 1
    assert once.claim("old", "other body", "b") == "ok"
    assert once.claim("new", "body", "b") == DONE
