"""The program ``graphstore``: its commands, and the one door through which every error leaves."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from graphstore.cli import (
    archiving,
    branching,
    contexts,
    demonstration,
    doctor,
    effects,
    exits,
    exporting,
    history,
    importing,
    listing,
    output,
    reconstruction,
    removing,
    retaining,
    serve,
    server,
    trees,
    usage,
    verifying,
)
from graphstore.cli.plain import one_line
from graphstore.errors import GraphStoreError

DISTRIBUTION = "conversation-graphstore"

app = typer.Typer(
    name="graphstore",
    help="Conversations with language models, stored as trees in Neo4j.\n\nNew here? Run:  graphstore demo",
    epilog=exits.epilog(),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

demonstration.register(app)
importing.register(app)
listing.register(app)
trees.register(app)
contexts.register(app)
history.register(app)
reconstruction.register(app)
branching.register(app)
effects.register(app)
usage.register(app)
exporting.register(app)
removing.register(app)
retaining.register(app)
archiving.register(app)
app.command(
    "serve",
    rich_help_panel="Run",
    epilog="Examples:  graphstore serve  ·  graphstore serve --port 0 --workspace team-a",
)(serve.serve)
app.add_typer(server.app, name="server", rich_help_panel="Run")
verifying.register(app)
doctor.register(app)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"graphstore {version(DISTRIBUTION)}")
        raise typer.Exit


@app.callback()
def _program(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and end.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the program and end the process with its exit code."""
    sys.stdout, sys.stderr = output.prepared(sys.stdout), output.prepared(sys.stderr)
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; every error becomes one sentence on standard error."""
    try:
        try:
            app(arguments, prog_name="graphstore")
        except SystemExit as ended:
            sys.stdout.flush()
            return ended.code if isinstance(ended.code, int) else exits.OK
        return exits.OK
    except (output.PipeClosed, BrokenPipeError):
        # What is still buffered has no reader; without this the interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.PIPE_CLOSED
    except (GraphStoreError, OSError) as error:
        code = exits.code_of(error)
        _tell(error, code, as_json="--json" in arguments)
        return code


def _tell(error: Exception, code: int, *, as_json: bool) -> None:
    if as_json:
        output.print_json_error({"error": type(error).__name__, "message": str(error), "exit_code": code})
        return
    lines = "\n".join(
        one_line(line) if line == line.lstrip() else "  " + one_line(line) for line in str(error).split("\n")
    )
    told = output.styled("error: ", "bold red")
    told.append(lines)
    output.errors().print(told, soft_wrap=True)
