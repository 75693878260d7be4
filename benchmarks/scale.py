"""The same path in a small and in a very large store, each on a server of its own, read in turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from benchmarks import assembly, postgres, targets
from benchmarks.data import line
from benchmarks.server import Neo4j, fill, hold_nothing, load_line
from benchmarks.timing import Contender, Figure, interleave

DEPTH, SIZE = 1_000, 2000
SMALL, LARGE = 10_000, 1_000_000
CHAIN, FILLER_SIZE = 100, 1_000


def measure(
    small: Neo4j,
    large: Neo4j,
    connection: psycopg.Connection[Any],
    shrink: int,
    repetitions: int,
    tick: Callable[..., object],
) -> list[Figure]:
    """Fill both up to their number of nodes, then read a path of 1,000 from one and the other."""
    figures: list[Figure] = []
    contenders: list[tuple[str, list[Contender]]] = []
    for neo4j, nodes, group in ((small, SMALL, targets.SMALL_STORE), (large, LARGE, targets.LARGE_STORE)):
        store = neo4j.store("scale")
        made = line(max(DEPTH // shrink, 2), SIZE)
        load_line(neo4j, store, made)
        wanted = max(nodes // shrink, 2 * CHAIN)
        there = neo4j.run("MATCH (n:Node) RETURN count(n)")[0][0]
        if there < wanted:
            fill(neo4j, wanted - there, CHAIN, FILLER_SIZE, lambda _: tick("filling"))
        neo4j.run("CALL db.awaitIndexes()")
        table = f"store_of_{nodes}"
        postgres.create_table(connection, table)
        postgres.copy_rows(connection, table, ((c.id, c.parent_id, c.sent, c.returned) for c in made.calls))
        postgres.fill(connection, table, max(wanted - len(made.calls), CHAIN), CHAIN, FILLER_SIZE)
        postgres.settle(connection, table)
        reader = postgres.PathReader(connection, table)

        def bare(neo4j: Neo4j = neo4j, store: Any = store, made: Any = made) -> object:
            return assembly.bare(neo4j, store, made)

        def body(store: Any = store, made: Any = made) -> object:
            return store.context(made.conversation_id).body

        def rows(reader: Any = reader, made: Any = made) -> object:
            return reader.rows(made.leaf.id)

        def forget(store: Any = store) -> None:
            hold_nothing(store)

        contenders.append(
            (
                group,
                [
                    Contender(targets.BARE, bare),
                    Contender(targets.BODY, body, forget),
                    Contender(targets.POSTGRES, rows),
                ],
            )
        )
    by_name = {
        f"{group}\n{one.name}": Contender(f"{group}\n{one.name}", one.run, one.prepare)
        for group, ones in contenders
        for one in ones
    }
    for figure in interleave(
        "", list(by_name.values()), repetitions=repetitions, warm_up=repetitions, tick=lambda: tick("scale")
    ):
        group, name = figure.name.split("\n")
        figures.append(Figure(group, name, figure.values))
    return figures
