"""The store against a plain model of it: whatever is done in whatever order, both say the same.

Two stores take turns at acting, as two processes would, so that each holds contexts the other has made stale; a third
one reads that holds nothing.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from graphstore import GraphStore, errors

Item = tuple[str, str]


@dataclass
class Node:
    """A call of the model's: what it sent and returned, where it hangs, and who owns it."""

    id: str
    above: str | None
    owner: str
    sent: list[Item]
    returned: list[Item]
    first: bool = True
    compaction: bool = False
    hidden_by: str | None = None


@dataclass
class Talk:
    """A conversation of the model's. ``been`` are the places its cursor was at, in order."""

    cursor: str | None = None
    been: list[str] = field(default_factory=list)
    origin: str | None = None

    def move(self, to: str) -> None:
        self.cursor = to
        self.been.append(to)


@dataclass
class Model:
    """Everything in the workspace."""

    nodes: dict[str, Node] = field(default_factory=dict)
    talks: dict[str, Talk] = field(default_factory=dict)

    def history(self, node_id: str | None) -> list[Node]:
        """The path of a node, its end first."""
        path = []
        while node_id is not None:
            path.append(self.nodes[node_id])
            node_id = path[-1].above
        return path

    def context(self, node_id: str | None) -> list[Item]:
        items: list[Item] = []
        for node in self.history(node_id):
            items = ([] if node.compaction else node.sent) + node.returned + items
            if node.compaction:
                break
        results = {name for kind, name in items if kind == "tool_result"}
        return [item for item in items if item[0] != "tool_call" or item[1] in results]

    def markers(self, talk_id: str) -> list[tuple[str, int, int]]:
        """(first node, position, count) of each turn on the path, root first."""
        talk = self.talks[talk_id]
        origin = next((node.id for node in self.history(talk.origin) if node.first and not node.compaction), None)
        found = []
        for node in reversed(self.history(talk.cursor)):
            if node.compaction or not node.first:
                continue
            beside = [
                other.id
                for other in self.nodes.values()
                if other.above == node.above
                and other.first
                and not other.compaction
                and other.hidden_by is None
                and (other.owner == talk_id or other.id in (node.id, origin))
            ]
            found.append((node.id, beside.index(node.id) + 1, len(beside)))
        return found

    def below(self, node_id: str) -> set[str]:
        found = {node_id}
        for node in self.nodes.values():  # children were made after their parents
            if node.above in found:
                found.add(node.id)
        return found

    def remove(self, candidates: set[str], needed: dict[str, str]) -> None:
        """Remove nodes; those on the path of one that is needed go to who needs it."""
        heirs: dict[str, str] = {}
        for node_id, heir in needed.items():
            for node in self.history(node_id):
                if node.id in candidates:
                    heirs.setdefault(node.id, heir)
        for node_id in candidates:
            if node_id in heirs:
                self.nodes[node_id].owner = heirs[node_id]
            else:
                del self.nodes[node_id]

    def needed(self, talk_id: str) -> dict[str, str]:
        """Node that another conversation stands on → the oldest that does (dict order is age)."""
        needed: dict[str, str] = {}
        for other_id, other in self.talks.items():
            if other_id == talk_id:
                continue
            stands_on = [other.cursor, other.origin]
            stands_on += [node.above for node in self.nodes.values() if node.owner == other_id]
            for node_id in stands_on:
                if node_id is not None and self.nodes[node_id].owner == talk_id:
                    needed.setdefault(node_id, other_id)
        return needed


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

    def word(self, what: str) -> str:
        self.count += 1
        return f"{what} {self.count}"

    def start(self) -> str:
        id = self.store.create_conversation()
        self.model.talks[id] = Talk()
        return id

    def alive(self, talk: str) -> bool:
        return talk in self.model.talks

    @rule(target=talks)
    def another(self) -> str:
        return self.start()

    def line(self, talk_id: str, turn: Any, rounds: int, end: str) -> None:
        """Settle a begun turn: some rounds of tools, then an answer, a failure or an overflow."""
        model, talk = self.model, self.model.talks[talk_id]
        last_good, call_id, node = talk.cursor, "", None
        with turn:
            for round in range(rounds + 1):
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
                    turn.current.succeed([as_item(node.returned[0], "assistant")])
                    last_good = node.id
                elif end == "answer":
                    node.returned = [("message", self.word("A"))]
                    turn.current.succeed(node.returned[0][1])
                    last_good = node.id
                elif end == "timeout":
                    turn.current.fail("timeout")
                    last_good = node.id
                else:
                    turn.current.fail("context_overflow")
        if last_good is not None and last_good != talk.cursor:
            talk.move(last_good)

    ends = st.sampled_from(["answer", "answer", "answer", "timeout", "context_overflow"])

    @rule(talk=talks, rounds=st.integers(0, 2), end=ends)
    def ask(self, talk: str, rounds: int, end: str) -> None:
        if not self.alive(talk):
            return
        self.sent = [("message", self.word("Q"))]
        turn = self.store.turn(talk)
        turn.call(self.sent[0][1])
        self.line(talk, turn, rounds, end)

    def spot(self, talk: str, pick: int) -> Node | None:
        """The first node of some turn on the path that no compaction hides."""
        path = self.model.history(self.model.talks[talk].cursor)
        folded = next((place for place, node in enumerate(path) if node.compaction), len(path))
        firsts = [node for node in path[:folded] if node.first]
        return firsts[pick % len(firsts)] if firsts else None

    @rule(talk=talks, pick=st.integers(0, 5), again=st.booleans(), rounds=st.integers(0, 1), end=ends)
    def branch(self, talk: str, pick: int, again: bool, rounds: int, end: str) -> None:
        """Edit a question, or have it answered again."""
        if not self.alive(talk) or (first := self.spot(talk, pick)) is None:
            return
        if again:
            self.sent = first.sent
            turn = self.store.regenerate(talk, first.id)
        else:
            self.sent = [("message", self.word("edited Q"))]
            turn = self.store.edit(talk, first.id, self.sent[0][1])
        state = self.model.talks[talk]
        state.cursor = first.above
        if first.above is not None:
            state.been.append(first.above)
        self.line(talk, turn, rounds, end)

    @rule(talk=talks, pick=st.integers(0, 5))
    def correct(self, talk: str, pick: int) -> None:
        if not self.alive(talk) or (first := self.spot(talk, pick)) is None:
            return
        words = self.word("corrected A")
        id = self.store.correct(talk, words, node_id=first.id)
        self.model.nodes[id] = Node(id, first.above, talk, first.sent, [("message", words)])
        self.model.talks[talk].move(id)

    @rule(talk=talks)
    def compact(self, talk: str) -> None:
        if not self.alive(talk) or (original := self.model.talks[talk].cursor) is None:
            return
        words = self.word("summary")
        id = self.store.compact(talk, words)
        self.model.nodes[id] = Node(id, original, talk, [], [("message", words)], first=False, compaction=True)
        self.model.talks[talk].move(id)

    @rule(talk=talks, pick=st.integers(0, 20))
    def switch(self, talk: str, pick: int) -> None:
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
        assert self.store.switch(talk, to) == wanted
        if wanted != state.cursor:
            state.move(wanted)

    @rule(target=talks, talk=talks, pick=st.integers(0, 20))
    def fork(self, talk: str, pick: int) -> str:
        if not self.alive(talk) or not (path := self.model.history(self.model.talks[talk].cursor)):
            return talk
        at = path[pick % len(path)].id
        self.word("fork")
        id = self.store.fork(at)
        self.model.talks[id] = Talk(origin=at)
        self.model.talks[id].move(at)
        return id

    @rule(pick=st.integers(0, 30))
    def hide(self, pick: int) -> None:
        """Hide a branch, unless a cursor is on it; or show one again."""
        tops = [node for node in self.model.nodes.values() if node.first or node.compaction]
        if not tops:
            return
        top = tops[pick % len(tops)]
        self.word("hide")
        branch = self.model.below(top.id)
        if any(talk.cursor in branch for talk in self.model.talks.values()):
            with pytest.raises(errors.BranchInUse):
                self.store.tombstone(top.id)
        elif top.hidden_by == top.id:
            self.store.restore(top.id)
            outer = None if top.above is None else self.model.nodes[top.above].hidden_by
            for id in branch:
                if self.model.nodes[id].hidden_by == top.id:
                    self.model.nodes[id].hidden_by = outer
        else:
            self.store.tombstone(top.id)
            for id in branch:
                self.model.nodes[id].hidden_by = self.model.nodes[id].hidden_by or top.id

    @rule(talk=talks, clear=st.booleans())
    def take_away(self, talk: str, clear: bool) -> None:
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
            model.talks[talk] = Talk()
        else:
            del model.talks[talk]
        model.remove(owned, needed)
        assert receipt.nodes == before - len(model.nodes)

    @invariant()
    def both_say_the_same(self) -> None:
        if not hasattr(self, "model"):
            return
        fresh = self.root.in_workspace(self.stores[0].workspace)
        for id, talk in self.model.talks.items():
            wanted = self.model.context(talk.cursor)
            for store in (*self.stores, fresh):
                context = store.context(id)
                assert context.cursor == talk.cursor
                assert seen(context.items) == wanted
            assert [node.id for node in fresh.path(id)] == [n.id for n in reversed(self.model.history(talk.cursor))]
            assert [(m.node_id, m.position, m.count) for m in fresh.markers(id)] == self.model.markers(id)
        assert {one.id for one in fresh.conversations()} == self.model.talks.keys()
        nodes = {node.id: node.conversation_id for id in self.model.talks for node in fresh.tree(id)}
        live = {node.id: node.owner for node in self.model.nodes.values() if node.hidden_by is None}
        assert nodes == live


@pytest.mark.rule("A1", "A2", "A7", "B1", "B2", "B3", "B4", "B5", "F1", "F2", "K1", "S6", "X1", "X2", "X3")
def test_the_store_does_what_the_model_does(connected: GraphStore, request: pytest.FixtureRequest) -> None:
    Conversations.root = connected
    many = request.config.getoption("slow")
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
