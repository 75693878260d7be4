"""Nothing crosses from one workspace to another (rule S8)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, said

from graphstore import errors


@pytest.fixture
def twins(store, other_store):
    """The same ids in two workspaces, with other content."""
    for where, name in ((store, "mine"), (other_store, "theirs")):
        where.create_conversation(id="c", title=name)
        ask(where, "c", f"Q1 {name}", f"A1 {name}", id="n1", system=f"system of {name}")
        ask(where, "c", f"Q2 {name}", f"A2 {name}", id="n2")
    return store, other_store


@pytest.mark.rule("S8")
def test_two_workspaces_may_hold_the_same_ids_and_each_reads_its_own(twins):
    for where, name in zip(twins, ("mine", "theirs"), strict=True):
        context = where.context("c")
        assert said(context) == [f"Q1 {name}", f"A1 {name}", f"Q2 {name}", f"A2 {name}"]
        assert context.settings.system == f"system of {name}"
        assert where.conversation("c").title == name
        assert where.node("n1").sent[0]["content"] == f"Q1 {name}"
        assert len(where.path("c")) == len(where.tree("c")) == len(where.markers("c")) == len(where.moves("c")) == 2
        assert [line.id for line in where.conversations()] == ["c"]


@pytest.mark.rule("S8")
def test_branching_compacting_and_forking_in_one_leaves_the_other_as_it_was(twins):
    mine, theirs = twins
    before = (theirs.tree("c"), theirs.conversation("c"), theirs.moves("c"), theirs.context("c").body)
    answered(mine.edit("c", "n1", "Q1 edited", id="n3"), "A")
    mine.switch("c", "n2")
    mine.correct("c", "A2 corrected", id="n4")
    mine.compact("c", "Summary", id="k")
    mine.fork("n2", id="f")
    assert (theirs.tree("c"), theirs.conversation("c"), theirs.moves("c"), theirs.context("c").body) == before
    assert [(m.position, m.count) for m in theirs.markers("c")] == [(1, 1), (1, 1)]


@pytest.mark.rule("S8")
def test_what_exists_in_another_workspace_only_is_answered_as_if_it_existed_nowhere(store, other_store):
    other_store.create_conversation(id="c")
    ask(other_store, "c", "secret", "secret", id="n")
    store.create_conversation(id="mine")
    for look in (
        lambda name: store.conversation(name),
        lambda name: store.context(name),
        lambda name: store.context(node_id=name),
        lambda name: store.node(name),
        lambda name: store.path(name),
        lambda name: store.path(node_id=name),
        lambda name: store.tree(name),
        lambda name: store.markers(name),
        lambda name: store.moves(name),
        lambda name: store.unseen_branches(name),
        lambda name: store.fork(name),
        lambda name: store.turn(name).call("Q"),
        lambda name: store.switch("mine", name),
        lambda name: store.edit("mine", name, "Q"),
        lambda name: store.dismiss(name, "n"),
    ):
        said_of = []
        for name in ("c", "n", "nowhere"):
            with pytest.raises(errors.NotFound) as refused:
                look(name)
            said_of.append(str(refused.value).replace(repr(name), "…"))
        assert len(set(said_of)) == 1
    assert store.list_conversations()[0][0].id == "mine"
    assert store.create_conversation(id="c", title="free here") == "c"
