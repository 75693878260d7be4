"""What a workspace of conversations is, in plain Python: dictionaries and loops over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    kind: str = "turn"
    hidden_by: str | None = None
    tokens: int = 0

    @property
    def compaction(self) -> bool:
        return self.kind == "compaction"

    @property
    def begins_turn(self) -> bool:
        """Whether it has siblings that a screen offers: side jobs and summaries have none."""
        return self.first and self.kind == "turn"


@dataclass
class Talk:
    """A conversation of the model's. ``moves`` are those of its cursor: from, to, and whether it went there."""

    cursor: str | None = None
    moves: list[tuple[str | None, str | None, bool]] = field(default_factory=list)
    origin: str | None = None
    cleared: int = 0

    @property
    def been(self) -> list[str]:
        """The places its cursor was at since it was last cleared, in order."""
        return [to for _, to, accepted in self.moves[self.cleared :] if accepted and to is not None]

    def move(self, to: str | None) -> None:
        self.moves.append((self.cursor, to, True))
        self.cursor = to

    def clear(self) -> None:
        self.move(None)
        self.origin, self.cleared = None, len(self.moves)

    def refuse(self, to: str) -> None:
        self.moves.append((self.cursor, to, False))


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
        origin = next((node.id for node in self.history(talk.origin) if node.begins_turn), None)
        found = []
        for node in reversed(self.history(talk.cursor)):
            if not node.begins_turn:
                continue
            beside = [
                other.id
                for other in self.nodes.values()
                if other.above == node.above
                and other.begins_turn
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

    def used(self, talk_id: str) -> dict[str, int]:
        """Tokens by where they went; ``total`` is all that the conversation owns."""
        path = {node.id for node in self.history(self.talks[talk_id].cursor)}
        pots = dict.fromkeys(("accepted", "discarded", "conversions", "compactions", "total", "inherited"), 0)
        for node in self.nodes.values():
            if node.owner == talk_id:
                pot = f"{node.kind}s" if node.kind != "turn" else "accepted" if node.id in path else "discarded"
                pots[pot] += node.tokens
                pots["total"] += node.tokens
            elif node.id in path:
                pots["inherited"] += node.tokens
        return pots
