"""Keys of the service: random, stored as hashes, good for one workspace, ended at once (rule H4)."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from graphstore import errors
from graphstore.models import Scope
from graphstore.store.api_keys import authenticated

pytestmark = pytest.mark.rule("H4")


@pytest.fixture
def opens(store):
    """The key that a text is, as any worker finds it."""
    return lambda text: authenticated(store.session.database, text)


def test_a_key_opens_its_workspace_with_its_scopes(store, opens):
    key, text = store.api_keys.create(["write", "read", "read"], name="the web shop")
    assert opens(text).model_copy(update={"used_at": None}) == key
    assert (key.workspace, key.scopes, key.name) == (store.workspace, (Scope.READ, Scope.WRITE), "the web shop")


def test_only_a_hash_of_the_secret_is_stored(store, cypher):
    key, text = store.api_keys.create(["read"])
    secret = text.rpartition(key.id + "_")[2]
    ((stored,),) = [row.values() for row in cypher("MATCH (k:ApiKey {workspace: $workspace}) RETURN properties(k)")]
    assert len(secret) == 43
    assert secret not in str(stored)
    assert len(stored["secret_hash"]) == 64


@pytest.mark.parametrize("change", [lambda t: t[:-1] + ("A" if t[-1] != "A" else "B"), lambda t: t + "x", lambda t: ""])
def test_what_is_no_key_opens_nothing(store, opens, change):
    _, text = store.api_keys.create(["read"])
    assert opens(change(text)) is None
    assert opens(f"gs_{'0' * 16}_{'A' * 43}") is None


def test_a_revoked_key_opens_nothing_from_then_on_and_stays_listed(store, opens):
    key, text = store.api_keys.create(["read"])
    other, _ = store.api_keys.create(["admin"])
    ended = store.api_keys.revoke(key.id)
    assert ended.revoked_at is not None
    assert opens(text) is None
    assert store.api_keys.revoke(key.id) == ended
    assert [one.id for one in store.api_keys.all()] == [other.id, key.id]


def test_an_expired_key_opens_nothing(store, opens):
    now = datetime.now(UTC)
    _, late = store.api_keys.create(["read"], expires_at=now - timedelta(seconds=1))
    _, early = store.api_keys.create(["read"], expires_at=now + timedelta(hours=1))
    assert opens(late) is None
    assert opens(early) is not None


def test_a_rotated_key_is_followed_by_one_like_it_and_may_live_on_for_a_while(store, opens):
    key, text = store.api_keys.create(["read", "export"], name="nightly")
    new, new_text = store.api_keys.rotate(key.id, grace=timedelta(hours=1))
    assert (new.scopes, new.name) == (key.scopes, key.name)
    assert opens(text).expires_at < datetime.now(UTC) + timedelta(hours=2)
    store.api_keys.rotate(key.id)
    assert opens(text) is None
    assert opens(new_text).id == new.id
    with pytest.raises(errors.InvalidInput, match="was revoked at"):
        store.api_keys.rotate(key.id)


def test_a_grace_never_prolongs_a_key(store):
    soon = datetime.now(UTC) + timedelta(minutes=1)
    key, _ = store.api_keys.create(["read"], expires_at=soon)
    store.api_keys.rotate(key.id, grace=timedelta(days=1))
    old = next(one for one in store.api_keys.all() if one.id == key.id)
    assert old.expires_at == soon


def test_the_last_use_is_noted_once_a_minute(store, opens):
    _, text = store.api_keys.create(["read"])
    opens(text)
    (used,) = [one.used_at for one in store.api_keys.all()]
    assert abs(used - datetime.now(UTC)) < timedelta(minutes=1)
    opens(text)
    assert [one.used_at for one in store.api_keys.all()] == [used]


def test_keys_of_another_workspace_are_not_there(store):
    key, _ = store.api_keys.create(["read"])
    other = store.in_workspace(f"other-{uuid.uuid4().hex}").api_keys
    assert other.all() == []
    for change in (other.revoke, other.rotate):
        with pytest.raises(errors.ApiKeyNotFound, match=key.id):
            change(key.id)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scopes": []}, "at least one scope of read, write, export, admin"),
        ({"scopes": ["reed"]}, "'reed' is not a scope; there are read"),
        ({"scopes": ["read"], "expires_at": datetime(2030, 1, 1)}, "without a zone"),
        ({"scopes": ["read"], "name": 7}, "name"),
    ],
    ids=["none", "unknown", "zoneless", "no text"],
)
def test_a_key_that_makes_no_sense_is_refused(store, options, words):
    with pytest.raises(errors.InvalidInput, match=words):
        store.api_keys.create(options.pop("scopes"), **options)
    assert store.api_keys.all() == []
