"""The store against a plain model of it: whatever is done in whatever order, both say the same.

Two stores take turns at acting, as two processes would, so that each holds contexts the other has made stale; a third
one reads that holds nothing. Writes are repeated at random, as after a lost answer, and change nothing the second time.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from plain_model import Item, Model, Node, Talk

from graphstore import Call, GraphStore, Turn, errors


def as_item(item: Item, role: str) -> dict[str, Any]:
    kind, text = item
    if kind == "tool_call":
        return {"type": kind, "call_id": text, "name": "f", "arguments": "{}"}
    if kind == "tool_result":
        return {"type": kind, "call_id": text, "output": "x"}
    return {"type": "message", "role": role, "content": text}


def seen(items: list[dict[str, Any]]) -> list[Item]:
    return [(item["type"], item.get("call_id") or item["content"]) for item in items]


class Conversations(RuleBasedStateMachine):
    """What may happen to conversations."""

    root: GraphStore  # set by the test
    steps = 0  # counted over all examples
    talks = Bundle("talks")

    @initialize(target=talks)
    def begin(self) -> str:
        workspace = f"model-{uuid.uuid4()}"
        self.stores = [self.root.in_workspace(workspace) for _ in range(2)]
        self.model = Model()
        self.count = 0
        return self.start()

    @property
    def store(self) -> GraphStore:
        """One of the two, in turns."""
        return self.stores[self.count % 2]

    @property
    def other(self) -> GraphStore:
        """The other one: it did not do what was done last."""
        return self.stores[1 - self.count % 2]

    def word(self, what: str) -> str:
        self.count += 1
        return f"{what} {self.count}"

    def usage(self, node: Node) -> dict[str, int]:
        node.tokens = self.count
        return {"input_tokens": self.count}

    def start(self, *, again: bool = False) -> str:
        id = str(uuid.uuid4())
        for store in (self.store, self.other)[: 1 + again]:
            assert store.create_conversation(id=id) == id
        self.model.talks[id] = Talk()
        return id

    def alive(self, talk: str) -> bool:
        return talk in self.model.talks

    @rule(target=talks, again=st.booleans())
    def another(self, again: bool) -> str:
        return self.start(again=again)

    def settle(self, call: Call, node: Node, end: str, again: bool) -> None:
        """Settle a call as its model says; ``again``: twice, as after a lost answer."""
        usage = self.usage(node)
        for _ in range(1 + again):
            if end == "answer":
                call.succeed([as_item(item, "assistant") for item in node.returned], usage=usage)
            else:
                call.fail(end, usage=usage)

    def line(self, talk_id: str, turn: Turn, rounds: int, end: str, again: bool) -> None:
        """Settle a begun turn: some rounds of tools, then an answer, a failure or an overflow.

        With ``again`` every completion is repeated, and every round is gone on with by the other process.
        """
        model, talk = self.model, self.model.talks[talk_id]
        last_good, call_id, node = talk.cursor, "", None
        for round in range(rounds + 1):
            if again:
                turn = self.other.resume_turn(turn.current.id)
            if node is not None:
                turn.call([as_item(("tool_result", call_id), "tool")])
                sent, above = [("tool_result", call_id)], node.id
            else:
                sent, above = self.sent, talk.cursor
            node = Node(turn.current.id, above, talk_id, sent, [], first=round == 0)
            model.nodes[node.id] = node
            if round < rounds:
                call_id = self.word("call")
                node.returned = [("tool_call", call_id)]
                self.settle(turn.current, node, "answer", again)
                last_good = node.id
                continue
            if end == "answer":
                node.returned = [("message", self.word("A"))]
            self.settle(turn.current, node, end, again)
            if end != "context_overflow":
                last_good = node.id
        for _ in range(1 + again):
            turn.end()
        if last_good is not None and last_good != talk.cursor:
            talk.move(last_good)

    ends = st.sampled_from(["answer", "answer", "answer", "timeout", "context_overflow"])

    @rule(talk=talks, rounds=st.integers(0, 2), end=ends, again=st.booleans())
    def ask(self, talk: str, rounds: int, end: str, again: bool) -> None:
        if not self.alive(talk):
            return
        self.sent = [("message", self.word("Q"))]
        turn = self.store.turn(talk)
        turn.call(self.sent[0][1])
        self.line(talk, turn, rounds, end, again)

    def spot(self, talk: str, pick: int) -> Node | None:
        """The first node of some turn on the path that no compaction hides."""
        path = self.model.history(self.model.talks[talk].cursor)
        folded = next((place for place, node in enumerate(path) if node.compaction), len(path))
        firsts = [node for node in path[:folded] if node.begins_turn]
        return firsts[pick % len(firsts)] if firsts else None

    @rule(
        talk=talks,
        pick=st.integers(0, 5),
        regenerate=st.booleans(),
        rounds=st.integers(0, 1),
        end=ends,
        again=st.booleans(),
    )
    def branch(self, talk: str, pick: int, regenerate: bool, rounds: int, end: str, again: bool) -> None:
        """Edit a question, or have it answered again."""
        if not self.alive(talk) or (first := self.spot(talk, pick)) is None:
            return
        if regenerate:
            self.sent = first.sent
            turn = self.store.regenerate(talk, first.id)
        else:
            self.sent = [("message", self.word("edited Q"))]
            turn = self.store.edit(talk, first.id, self.sent[0][1])
        self.model.talks[talk].move(first.above)
        self.line(talk, turn, rounds, end, again)

    @rule(talk=talks, pick=st.integers(0, 5), again=st.booleans())
    def correct(self, talk: str, pick: int, again: bool) -> None:
        if not self.alive(talk) or (first := self.spot(talk, pick)) is None:
            return
        words, id = self.word("corrected A"), str(uuid.uuid4())
        for store in (self.store, self.other)[: 1 + again]:
            assert store.correct(talk, words, node_id=first.id, id=id) == id
        self.model.nodes[id] = Node(id, first.above, talk, first.sent, [("message", words)])
        self.model.talks[talk].move(id)

    @rule(talk=talks, again=st.booleans())
    def compact(self, talk: str, again: bool) -> None:
        if not self.alive(talk) or (original := self.model.talks[talk].cursor) is None:
            return
        words, id = self.word("summary"), str(uuid.uuid4())
        node = Node(id, original, talk, [], [("message", words)], first=False, kind="compaction")
        for store in (self.store, self.other)[: 1 + again]:
            assert store.compact(talk, words, id=id, usage=self.usage(node)) == id
        self.model.nodes[id] = node
        self.model.talks[talk].move(id)

    @rule(talk=talks, failures=st.integers(0, 2), again=st.booleans())
    def convert(self, talk: str, failures: int, again: bool) -> None:
        """A side job: attempts that fail, and then one that doesn't."""
        if not self.alive(talk) or self.model.talks[talk].cursor is None:
            return
        above = self.model.talks[talk].cursor
        with self.store.conversion(talk) as job:
            for attempt in range(failures + 1):
                sent = [("message", self.word("convert"))]
                call = job.call(sent[0][1])
                node = Node(call.id, above, talk, sent, [], first=attempt == 0, kind="conversion")
                self.model.nodes[node.id] = node
                if attempt == failures:
                    node.returned = [("message", self.word("draft"))]
                self.settle(call, node, "answer" if node.returned else "timeout", again)
                above = node.id

    @rule(talk=talks, again=st.booleans())
    def record(self, talk: str, again: bool) -> None:
        """A call that was made already."""
        if not self.alive(talk):
            return
        sent, returned, id = ("message", self.word("Q")), ("message", self.word("recorded A")), str(uuid.uuid4())
        state = self.model.talks[talk]
        node = Node(id, state.cursor, talk, [sent], [returned])
        recorders = [store.recorder(talk) for store in (self.store, self.other)[: 1 + again]]
        for recorder in recorders:
            recorder.look()
        for recorder in recorders:
            assert recorder.record(sent[1], returned[1], usage=self.usage(node), id=id) == id
        self.model.nodes[id] = node
        state.move(id)

    @rule(talk=talks, end=ends)
    def come_too_late(self, talk: str, end: str) -> None:
        """A call is recorded that followed what was the end before somebody else went on: it is kept, and said."""
        if not self.alive(talk):
            return
        state = self.model.talks[talk]
        late, before = self.other.recorder(talk), state.cursor
        late.look()
        self.sent = [("message", self.word("Q"))]
        turn = self.stores[0].turn(talk)
        turn.call(self.sent[0][1])
        self.line(talk, turn, 0, end, again=False)
        sent, returned, id = ("message", self.word("late Q")), ("message", self.word("late A")), str(uuid.uuid4())
        node = Node(id, before, talk, [sent], [returned])
        if state.cursor == before:  # nothing moved: the turn overflowed
            late.record(sent[1], returned[1], usage=self.usage(node), id=id)
            state.move(id)
        else:
            with pytest.raises(errors.CursorMoved) as refused:
                late.record(sent[1], returned[1], usage=self.usage(node), id=id)
            assert (refused.value.kept, refused.value.cursor) == (id, state.cursor)
            state.refuse(id)
        self.model.nodes[id] = node

    @rule(talk=talks, pick=st.integers(0, 20), again=st.booleans())
    def switch(self, talk: str, pick: int, again: bool) -> None:
        """To a place where the cursor was: it goes to the newest such place at or below."""
        if not self.alive(talk):
            return
        state = self.model.talks[talk]
        places = [id for id in state.been if id in self.model.nodes and self.model.nodes[id].hidden_by is None]
        if not places:
            return
        to = places[pick % len(places)]
        self.word("switch")
        branch = self.model.below(to)
        wanted = next(id for id in reversed(places) if id in branch)
        for store in (self.store, self.other)[: 1 + again]:
            assert store.switch(talk, to) == wanted
        if wanted != state.cursor:
            state.move(wanted)

    @rule(target=talks, talk=talks, pick=st.integers(0, 20), job=st.booleans(), again=st.booleans())
    def fork(self, talk: str, pick: int, job: bool, again: bool) -> str:
        """At a node of the path, or at one of a side job."""
        if not self.alive(talk):
            return talk
        jobs = [
            node
            for node in self.model.nodes.values()
            if node.owner == talk and node.kind == "conversion" and node.hidden_by is None
        ]
        if not (spots := jobs if job else self.model.history(self.model.talks[talk].cursor)):
            return talk
        at, id = spots[pick % len(spots)].id, str(uuid.uuid4())
        self.word("fork")
        for store in (self.store, self.other)[: 1 + again]:
            assert store.fork(at, id=id) == id
        self.model.talks[id] = Talk(origin=at)
        self.model.talks[id].move(at)
        return id

    @rule(pick=st.integers(0, 30), again=st.booleans())
    def hide(self, pick: int, again: bool) -> None:
        """Hide a branch, unless a cursor is on it; or show one again."""
        tops = [node for node in self.model.nodes.values() if node.begins_turn or node.compaction]
        if not tops:
            return
        top = tops[pick % len(tops)]
        self.word("hide")
        branch = self.model.below(top.id)
        stores = (self.store, self.other)[: 1 + again]
        if any(talk.cursor in branch for talk in self.model.talks.values()):
            for store in stores:
                with pytest.raises(errors.BranchInUse):
                    store.tombstone(top.id)
        elif top.hidden_by == top.id:
            for store in stores:
                store.restore(top.id)
            outer = None if top.above is None else self.model.nodes[top.above].hidden_by
            for id in branch:
                if self.model.nodes[id].hidden_by == top.id:
                    self.model.nodes[id].hidden_by = outer
        else:
            for store in stores:
                store.tombstone(top.id)
            for id in branch:
                self.model.nodes[id].hidden_by = self.model.nodes[id].hidden_by or top.id

    @rule(talk=talks, clear=st.booleans(), again=st.booleans())
    def take_away(self, talk: str, clear: bool, again: bool) -> None:
        """Delete a conversation, or empty it."""
        if not self.alive(talk):
            return
        self.word("delete")
        model = self.model
        owned = {node.id for node in model.nodes.values() if node.owner == talk}
        needed = model.needed(talk)
        receipt = self.store.clear(talk) if clear else self.store.delete_conversation(talk)
        before = len(model.nodes)
        if clear:
            model.talks[talk].clear()
        else:
            del model.talks[talk]
        model.remove(owned, needed)
        assert receipt.nodes == before - len(model.nodes)
        if again and clear:
            assert self.other.clear(talk).nodes == 0
            model.talks[talk].clear()
        elif again:
            with pytest.raises(errors.ConversationNotFound):
                self.other.delete_conversation(talk)

    @invariant()
    def both_say_the_same(self) -> None:
        if not hasattr(self, "model"):
            return
        Conversations.steps += 1
        fresh = self.root.in_workspace(self.stores[0].workspace)
        for id, talk in self.model.talks.items():
            wanted = self.model.context(talk.cursor)
            for store in (*self.stores, fresh):
                context = store.context(id)
                assert context.cursor == talk.cursor
                assert seen(context.items) == wanted
            assert [node.id for node in fresh.path(id)] == [n.id for n in reversed(self.model.history(talk.cursor))]
            assert [(m.node_id, m.position, m.count) for m in fresh.markers(id)] == self.model.markers(id)
            assert [(move.from_id, move.to_id, move.accepted) for move in fresh.moves(id)] == talk.moves
            report, spent = fresh.usage.of(id), self.model.used(id)
            assert {pot: getattr(report, pot).usage.input_tokens or 0 for pot in spent} == spent
            assert report.running.calls == 0
        assert {one.id for one in fresh.conversations()} == self.model.talks.keys()
        nodes = {node.id: node.conversation_id for id in self.model.talks for node in fresh.tree(id)}
        live = {node.id: node.owner for node in self.model.nodes.values() if node.hidden_by is None}
        assert nodes == live


@pytest.mark.rule(
    "A1",
    "A2",
    "A7",
    "B1",
    "B2",
    "B3",
    "B4",
    "B5",
    "C3",
    "C4",
    "F1",
    "F2",
    "K1",
    "S2",
    "S6",
    "U2",
    "V2",
    "X1",
    "X2",
    "X3",
)
def test_the_store_does_what_the_model_does(connected: GraphStore, request: pytest.FixtureRequest) -> None:
    Conversations.root = connected
    many = request.config.getoption("slow")
    Conversations.steps = 0
    run_state_machine_as_test(
        Conversations,
        settings=settings(
            max_examples=600 if many else 60,
            stateful_step_count=40,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Conversations.steps >= 2_000
