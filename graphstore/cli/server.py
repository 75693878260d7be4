"""``graphstore server``: the embedded Neo4j by hand (it also starts by itself when a command needs it)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import orjson
import typer

from graphstore.cli.opening import settings
from graphstore.local import LocalServer, ServerStatus, Silent

app = typer.Typer(
    help="The embedded Neo4j server: it starts by itself when needed, and stays until it is stopped.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def _print_json(value: Any) -> None:
    typer.echo(orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2))


def _show(status: ServerStatus, as_json: bool) -> None:
    if as_json:
        _print_json(asdict(status))
        return
    if not status.running:
        typer.echo(f"Neo4j {status.version} is not running.\ndata    {status.data_folder}")
        return
    state = "runs" if status.answering else "is starting or stopping"
    memory = f"{status.memory_bytes / 1e6:.0f} MB" if status.memory_bytes is not None else "unknown"
    typer.echo(
        f"Neo4j {status.version} {state}.\n"
        f"uri     {status.uri}\nprocess {status.pid}, since {status.since:%Y-%m-%d %H:%M:%S} UTC, memory {memory}\n"
        f"data    {status.data_folder}\nlog     {status.log_file}"
    )


@app.command(epilog="Examples:  graphstore server start  ·  graphstore server start --json | jq .uri")
def start(json: Json = False) -> None:
    """Start the server, after fetching it the first time (about 180 MB); one that runs is left as it is."""
    server = LocalServer.from_settings(settings())
    server.start(Silent() if json else None)
    _show(server.status(), json)


@app.command(epilog="Examples:  graphstore server stop  ·  GRAPHSTORE_HOME=./scratch graphstore server stop")
def stop(json: Json = False) -> None:
    """Stop the server cleanly, for all programs that use it."""
    stopped = LocalServer.from_settings(settings()).stop(Silent() if json else None)
    if json:
        _print_json({"stopped": stopped})
    else:
        typer.echo("Neo4j is stopped." if stopped else "Neo4j was not running.")


@app.command(epilog="Examples:  graphstore server status  ·  graphstore server status --json | jq .running")
def status(json: Json = False) -> None:
    """Say whether the server runs, where it listens and where its data is."""
    _show(LocalServer.from_settings(settings()).status(), json)


@app.command(epilog="Examples:  graphstore server logs  ·  graphstore server logs --lines 500")
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 50,
    json: Json = False,
) -> None:
    """Show the end of the server's log."""
    told = LocalServer.from_settings(settings()).logs(lines)
    if json:
        _print_json({"lines": told})
    else:
        typer.echo("\n".join(told))
