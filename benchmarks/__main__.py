"""``python -m benchmarks assembly``, ``import``, ``writes``, ``branches``, ``delete`` and ``peers``."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

try:
    from benchmarks import assembly, branches, deleting, editing, importing, postgres, scale, targets, writes
    from benchmarks.counting import CountingDatabase
    from benchmarks.peers import catalogue, goals
    from benchmarks.peers.growing import Misread, Sizes
    from benchmarks.peers.measuring import measure as measure_peers
    from benchmarks.peers.peer import Servers
    from benchmarks.report import Report
    from benchmarks.server import FILL_AT_ONCE, Neo4j
    from benchmarks.timing import Figure
    from graphstore.fingerprint import new_id
except ModuleNotFoundError as missing:
    told = f"the module {missing.name!r} is missing; install what the benchmarks need: pip install -e '.[local,dev]'"
    print(f"error: {told}", file=sys.stderr)
    raise SystemExit(2) from None

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Home = Annotated[Path | None, typer.Option(help="Keep the Neo4j data here (a folder of its own; default: temporary).")]
Heap = Annotated[int, typer.Option(help="Heap of each Neo4j server, in MB.")]
PageCache = Annotated[int, typer.Option(help="Page cache of each Neo4j server, in MB.")]
Shrink = Annotated[int, typer.Option(help="Divide sizes and repetitions by this, to try it out.", min=1)]
Million = Annotated[bool, typer.Option("--million", help="Also read a path in a store of a million nodes.")]


@app.command("assembly")
def run_assembly(
    json: Json = False,
    million: Million = False,
    home: Home = None,
    heap_mb: Heap = 512,
    page_cache_mb: PageCache = 512,
    shrink: Shrink = 1,
) -> None:
    """Contexts of several depths and edits, against PostgreSQL's recursive query."""
    sizes = tuple(assembly.shrunk(size, shrink) for size in assembly.SIZES)
    edits, scales = max(100 // shrink, 2), max(150 // shrink, 2)
    with ExitStack() as stack:
        tick = stack.enter_context(_progress(_rounds(sizes, edits, scales if million else 0)))
        server = stack.enter_context(postgres.Postgres())
        neo4j = stack.enter_context(Neo4j(home, "main", heap_mb, page_cache_mb))
        connection = stack.enter_context(server.connect())
        figures = []
        if million:
            with Neo4j(home, "million", heap_mb, page_cache_mb) as large:
                figures += scale.measure(neo4j, large, connection, shrink, scales, tick)
        store = stack.enter_context(neo4j.store(f"benchmark-{new_id()}"))
        assembly.create_tables(connection)
        for size, made in zip(sizes, assembly.lines(sizes), strict=True):
            assembly.load(neo4j, store, connection, made)
            figures += assembly.measure(neo4j, store, connection, size, made, tick)
        figures += editing.measure(neo4j, store, shrink, edits, tick)
        counted = stack.enter_context(neo4j.store(store.workspace, CountingDatabase))
        database = counted.session.database
        assert isinstance(database, CountingDatabase)
        reads = editing.reads_of_later_rounds(counted, lambda: database.reads)
        judged = [target.judge(figures) for target in targets.ASSEMBLY_TARGETS]
        judged.append(targets.Count("reads from the database by a turn's second and later rounds", reads, 0).judge())
        version = connection.execute("SHOW server_version").fetchone()
        report = Report(
            "assembly",
            {"neo4j server": neo4j.version(), "postgresql": version[0] if version else "?"},
            {
                **_neo4j_settings(heap_mb, page_cache_mb, shrink),
                "postgresql": {**postgres.SETTINGS, "session": list(postgres.SESSION)},
                "filler": f"{scale.FILLER_SIZE} bytes a node, lines of {scale.CHAIN}",
            },
            figures,
            judged,
        )
    _show(report, json)


@app.command("import")
def run_import(
    json: Json = False,
    nodes: Annotated[int, typer.Option(help="Calls in the generated export.", min=1)] = 100_000,
    repetitions: Annotated[int, typer.Option(help="Imports, each into a workspace of its own.", min=1)] = 3,
    home: Home = None,
    heap_mb: Heap = 1024,
    page_cache_mb: PageCache = 512,
) -> None:
    """Importing a generated ChatGPT export, against a bare UNWIND of the same rows."""
    with ExitStack() as stack:
        tick = stack.enter_context(_progress(2 * repetitions))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-import-")))
        neo4j = stack.enter_context(Neo4j(home, "main", heap_mb, page_cache_mb))
        figures, size = importing.measure(neo4j, folder, nodes, repetitions, tick)
        report = Report(
            "import",
            {"neo4j server": neo4j.version()},
            {**_neo4j_settings(heap_mb, page_cache_mb, 1), "nodes": nodes, "export bytes": size},
            figures,
            [target.judge(figures) for target in targets.IMPORT_TARGETS],
        )
    _show(report, json)


@app.command("writes")
def run_writes(
    json: Json = False, home: Home = None, heap_mb: Heap = 512, page_cache_mb: PageCache = 512, shrink: Shrink = 1
) -> None:
    """Calls written by one and by eight writers, against PostgreSQL doing the same."""
    options = _neo4j_settings(heap_mb, page_cache_mb, shrink)
    _against_postgres("writes", writes.measure, writes.rounds(shrink), targets.WRITE_TARGETS, home, options, json)


@app.command("branches")
def run_branches(
    json: Json = False, home: Home = None, heap_mb: Heap = 512, page_cache_mb: PageCache = 512, shrink: Shrink = 1
) -> None:
    """Markers of a whole path, the tail below a held node, and bytes on disk, against PostgreSQL."""
    options = _neo4j_settings(heap_mb, page_cache_mb, shrink)
    _against_postgres(
        "branches", branches.measure, branches.rounds(shrink), targets.BRANCH_TARGETS, home, options, json
    )


@app.command("delete")
def run_delete(
    json: Json = False, home: Home = None, heap_mb: Heap = 512, page_cache_mb: PageCache = 512, shrink: Shrink = 1
) -> None:
    """Deleting a conversation of 100,000 calls."""
    with ExitStack() as stack:
        tick = stack.enter_context(_progress(deleting.rounds(shrink)))
        neo4j = stack.enter_context(Neo4j(home, "main", heap_mb, page_cache_mb))
        figures = deleting.measure(neo4j, shrink, tick)
        judged = [target.judge(figures) for target in targets.DELETE_TARGETS]
        versions = {"neo4j server": neo4j.version()}
        report = Report("delete", versions, _neo4j_settings(heap_mb, page_cache_mb, shrink), figures, judged)
    _show(report, json)


@app.command("peers")
def run_peers(
    json: Json = False,
    peers: Annotated[str, typer.Option(help="Which, by commas: " + ", ".join(catalogue.KEYS) + ".")] = "all",
    budget: Annotated[float, typer.Option(help="Seconds for a store and a workload; what is slower is stopped.")] = 90,
    home: Home = None,
    heap_mb: Heap = 512,
    page_cache_mb: PageCache = 512,
    shrink: Shrink = 1,
) -> None:
    """Other conversation stores on the same three conversations, and races of two writers."""
    keys = catalogue.KEYS if peers == "all" else tuple(peers.split(","))
    if unknown := [key for key in keys if key not in catalogue.KEYS]:
        raise typer.BadParameter(
            f"there is no {unknown[0]!r}; there are {', '.join(catalogue.KEYS)}", param_hint="--peers"
        )
    classes, left_out = catalogue.find(keys)
    for key, reason in left_out.items():
        Console(stderr=True).print(f"{key} is left out: {reason}", markup=False)
    sizes = Sizes().shrunk(shrink)
    with ExitStack() as stack:
        tick = stack.enter_context(_progress(sizes.ticks(len(classes))))
        server = stack.enter_context(postgres.Postgres())
        neo4j = stack.enter_context(Neo4j(home, "main", heap_mb, page_cache_mb))
        measured = measure_peers(classes, Servers(server, neo4j, heap_mb, page_cache_mb), sizes, budget, tick)
        with server.connect() as connection:
            version = connection.execute("SHOW server_version").fetchone()
        versions = {"neo4j server": neo4j.version(), "postgresql": version[0] if version else "?", **measured.versions}
        options = {**_neo4j_settings(heap_mb, page_cache_mb, shrink), "seconds a store and workload": budget}
        options |= {"postgresql": postgres.SETTINGS, "left out": left_out, "notes": measured.notes}
        judged = [target.judge(measured.figures) for target in goals.PEER_TARGETS]
        report = Report("peers", versions, options, measured.figures, judged)
    _show(report, json)


def _against_postgres(
    name: str,
    measure: Callable[[Neo4j, postgres.Postgres, int, Callable[[str], object]], list[Figure]],
    rounds: int,
    judges: Sequence[targets.Target],
    home: Path | None,
    options: dict[str, Any],
    json: bool,
) -> None:
    """Run a benchmark beside PostgreSQL, and show what it found."""
    with ExitStack() as stack:
        tick = stack.enter_context(_progress(rounds))
        server = stack.enter_context(postgres.Postgres())
        neo4j = stack.enter_context(Neo4j(home, "main", options["neo4j heap MB"], options["neo4j page cache MB"]))
        figures = measure(neo4j, server, options["shrink"], tick)
        judged = [target.judge(figures) for target in judges]
        with server.connect() as connection:
            version = connection.execute("SHOW server_version").fetchone()
        versions = {"neo4j server": neo4j.version(), "postgresql": version[0] if version else "?"}
        settings = {**options, "postgresql": {**postgres.SETTINGS, "session": list(postgres.SESSION)}}
        report = Report(name, versions, settings, figures, judged)
    _show(report, json)


def _rounds(sizes: tuple[assembly.Size, ...], edits: int, scales: int) -> int:
    warm_and_timed = sum(size.repetitions + max(size.repetitions // 2, 2) for size in sizes)
    filling = scale.LARGE // scale.CHAIN // FILL_AT_ONCE if scales else 0
    return warm_and_timed + edits + max(edits // 2, 2) + 2 * scales + filling


def _neo4j_settings(heap_mb: int, page_cache_mb: int, shrink: int) -> dict[str, Any]:
    return {"neo4j heap MB": heap_mb, "neo4j page cache MB": page_cache_mb, "shrink": shrink}


@contextmanager
def _progress(rounds: int) -> Iterator[Callable[[str], object]]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting the servers", total=rounds)
        yield lambda what: progress.update(task, advance=1, description=what)


def _show(report: Report, json: bool) -> None:
    if json:
        print(report.json())
    else:
        report.show(Console())


def main() -> None:
    """The command; says what is missing instead of a traceback."""
    # So that a run that is told to end still stops its servers and removes their data.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app()
    except postgres.PostgresMissing as error:
        Console(stderr=True).print(f"PostgreSQL is missing: {error}")
        raise SystemExit(2) from None
    except Misread as error:
        Console(stderr=True).print(f"a store gave back something else than was written: {error}", markup=False)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
