"""What a workspace holds: every kind of thing, with its key and the relationships that are told with it.

Archives are made and put back by this table. A new label is one line here; a test fails while a query writes a label
or a relationship that the table doesn't have. Properties are taken as they are, all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from graphstore import queries
from graphstore.queries import Query


@dataclass(frozen=True)
class Link:
    """Relationships of one type. ``out`` says whether they begin at the thing they are told with."""

    type: str
    other: str
    out: bool = True


@dataclass(frozen=True)
class Holding:
    """One kind of thing. ``key`` is unique in a workspace.

    ``of``: what these things hang on; one that came while an archive was written, after what it hangs on was read, is
    left out with it. ``fetch`` is how many are read in one go, fewer where a thing may be large.
    """

    label: str
    links: tuple[Link, ...] = ()
    key: str = "id"
    of: tuple[str, ...] = ()
    fetch: int = 500

    @cached_property
    def page(self) -> Query:
        """``read/archive_page`` for this kind."""
        return self._of(queries.ARCHIVE_PAGE)

    @cached_property
    def named(self) -> Query:
        """``read/archive_named`` for this kind."""
        return self._of(queries.ARCHIVE_NAMED)

    @cached_property
    def count(self) -> Query:
        """``read/count_things`` for this kind."""
        return queries.COUNT_THINGS.about(self.label, {":Move ": f":{self.label} ", "n.id ": f"n.{self.key} "})

    @cached_property
    def duplicates(self) -> Query:
        """``read/duplicate_keys`` for this kind."""
        changes = {":Move ": f":{self.label} ", "n.id": f"n.{self.key}"}
        return queries.DUPLICATE_KEYS.about(self.label, changes)

    @cached_property
    def loose(self) -> Query:
        """``read/loose_things`` for this kind, which hangs on others."""
        (type,) = self.of
        out = next(link.out for link in self.links if link.type == type)
        arrow = f"(n)-[:{type}]->()" if out else f"(n)<-[:{type}]-()"
        return queries.LOOSE_THINGS.about(self.label, {":Bubble ": f":{self.label} ", "(n)-[:OF]->()": arrow})

    @cached_property
    def put(self) -> Query:
        """``write/restore_things`` for this kind."""
        return queries.RESTORE_THINGS.about(self.label, {"(n:Move)": f"(n:{self.label})"})

    def _of(self, query: Query) -> Query:
        types = {out: "|".join(link.type for link in self.links if link.out is out) for out in (True, False)}
        changes = {
            ":Move {": f":{self.label} {{",
            "[r:FROM|TO]": f"[r:{types[True] or 'NONE'}]",
            "[r:MOVED]": f"[r:{types[False] or 'NONE'}]",
            "n.id": f"n.{self.key}",
        }
        if query is queries.ARCHIVE_NAMED:
            changes["id: named"] = f"{self.key}: named"
        return query.about(self.label, changes)

    def put_links(self, link: Link) -> Query:
        """``write/restore_links`` for one type of relationship."""
        arrow = f"(n)-[r:{link.type}]->(other)" if link.out else f"(n)<-[r:{link.type}]-(other)"
        changes = {
            "(n:Move {workspace: $workspace, id:": f"(n:{self.label} {{workspace: $workspace, {self.key}:",
            "(other:Node {workspace: $workspace, id:": (
                f"(other:{link.other} {{workspace: $workspace, {HOLDING[link.other].key}:"
            ),
            "(n)-[r:FROM]->(other)": arrow,
        }
        return queries.RESTORE_LINKS.about(f"{self.label} {link.type}", changes)


HOLDINGS: tuple[Holding, ...] = (
    Holding("Conversation", (Link("CURSOR", "Node"), Link("FORKED_AT", "Node"))),
    Holding(
        "Node",
        (
            Link("PARENT", "Node"),
            Link("COMPACTS", "Node"),
            Link("USES", "Blob"),
            Link("STARTS", "Conversation", out=False),
            Link("UNSEEN", "Conversation", out=False),
            Link("CLEARED", "Conversation", out=False),
        ),
    ),
    Holding("Blob", key="sha256", fetch=8),
    Holding(
        "Move", (Link("FROM", "Node"), Link("TO", "Node"), Link("MOVED", "Conversation", out=False)), of=("MOVED",)
    ),
    Holding("Bubble", (Link("OF", "Node"),), of=("OF",), fetch=50),
    Holding("Effect", (Link("PROPOSED", "Node", out=False),), of=("PROPOSED",), fetch=50),
    Holding("Fact", (Link("DERIVED", "Node", out=False),), of=("DERIVED",), fetch=50),
    Holding("Label", (Link("ON", "Node"),), of=("ON",)),
    Holding("Feedback", (Link("ABOUT", "Node"),), of=("ABOUT",)),
    Holding("Summary", (Link("SUMMARIZES", "Node"),), of=("SUMMARIZES",)),
    Holding("Tool"),
    Holding("ToolResult", (Link("USES", "Blob"),), fetch=50),
)
"""Each kind after what it hangs on."""

HOLDING = {holding.label: holding for holding in HOLDINGS}

FLAGS = frozenset({"Compaction", "ExactText", "Heavy"})
"""Labels that a node has beside its kind's; whatever others there are is kept, too."""

LEFT_OUT = {
    "ApiKey": "of the service, and its secret's hash is nobody else's",
    "Request": "what the service answered lately, for repeated requests only",
    "SchemaVersion": "of the database, not of a workspace: migrations record themselves",
    "Restoring": "the mark of a restore under way; what is being restored is not archived",
}
"""Labels that no archive has, and why."""
