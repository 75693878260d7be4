"""Conversions: side jobs that read a conversation and leave it as it is (rules V1, V2).

A job is a line of calls like a turn's, on the context that the cursor ends, but it takes no lease and moves nothing:
the next question's path doesn't pass through it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn, Unpack

from graphstore import items
from graphstore.context import Context
from graphstore.errors import InvalidInput, RetriesExhausted
from graphstore.items import ItemDict, ItemsInput
from graphstore.models import NodeKind, Usage
from graphstore.store.assembly import assemble
from graphstore.store.calls import Call
from graphstore.store.held import Readers
from graphstore.store.session import Session
from graphstore.store.settings import CallOptions
from graphstore.store.turns import DEFAULT_LEASE_SECONDS, Turn

DEFAULT_RETRIES = 3


@dataclass(frozen=True)
class Draft:
    """What a model returned, with what is to be recorded beside it; see ``Call.succeed``."""

    returned: ItemsInput
    usage: Usage | dict[str, Any] | None = None
    finish_reason: str | None = None
    response_id: str | None = None
    model: str | None = None


def told(errors: list[str]) -> ItemsInput:
    """What the next attempt sends unless the caller says it otherwise: one user message that lists the errors."""
    return "The draft was not accepted:\n" + "\n".join(f"- {error}" for error in errors) + "\nSend a corrected one."


class Conversion(Turn):
    """A side job on a conversation; use it as a context manager.

    Each call hangs under the one before, the first under the cursor. ``fail`` does not end the job: the next call is
    the retry. Leaving the job with a call not settled fails that call.
    """

    kind = NodeKind.CONVERSION

    def __init__(self, session: Session, conversation_id: str, retries: int, options: CallOptions) -> None:
        if retries < 0:
            raise InvalidInput(f"retries must be 0 or more, not {retries!r}")
        if "id" in options:
            raise InvalidInput("an id names one call; give it to job.call(…, id=…)")
        super().__init__(session, conversation_id, owner=None, exclusive=False, lease_seconds=DEFAULT_LEASE_SECONDS)
        self.retries = retries
        self._options = options

    def call(self, sent: ItemsInput = (), **options: Unpack[CallOptions]) -> Call:
        """Write the next attempt as pending with what it newly sends; the job's options hold unless given here.

        Raises ``RetriesExhausted`` after ``retries`` further attempts, ``InvalidInput`` when the conversation is empty,
        ``CallInProgress``, ``ConversationGone``, ``IdConflict``, ``InvalidItems``.
        """
        if len(self.calls) > self.retries:
            raise RetriesExhausted(self.conversation_id, self.calls[-1].id, len(self.calls), ())
        merged: CallOptions = {**self._options, **options}
        return super().call(sent, **merged)

    def run(
        self,
        sent: ItemsInput,
        generate: Callable[[Context], ItemsInput | Draft],
        validate: Callable[[list[ItemDict]], list[str]],
        *,
        feedback: Callable[[list[str]], ItemsInput] = told,
    ) -> list[ItemDict]:
        """Ask for drafts until one is valid, and return its items; ``job.current`` is its call.

        ``generate`` is given the context to send and returns what the model did; ``validate`` returns what is wrong
        with it (nothing: it is accepted). A draft with errors is a succeeded call, and ``feedback`` makes of the errors
        what the next attempt sends. Raises ``RetriesExhausted`` with the last errors, and as ``call``. What
        ``generate`` raises is raised on, and fails its call as the ``with`` block is left.
        """
        while True:
            call = self.call(sent)
            made = generate(call.context)
            draft = made if isinstance(made, Draft) else Draft(made)
            call.succeed(
                draft.returned,
                usage=draft.usage,
                finish_reason=draft.finish_reason,
                response_id=draft.response_id,
                model=draft.model,
            )
            returned = items.decode(items.encode(draft.returned, role="assistant").text, exact=True)
            errors = validate(returned)
            if not errors:
                return returned
            if len(self.calls) > self.retries:
                raise RetriesExhausted(self.conversation_id, call.id, len(self.calls), tuple(errors))
            sent = feedback(errors)

    def _first_base(self, readers: Readers) -> Context:
        base = assemble(self.session, self.conversation_id, None, readers)
        if base.node_id is None:
            raise InvalidInput(f"conversation {self.conversation_id!r} is empty; there is nothing to convert")
        return base

    def compact(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: a side job leaves the conversation as it is."""
        raise InvalidInput("a side job can't compact the conversation that it reads")

    def end(self) -> None:
        """End the job; the cursor stays where it is."""
        self.ended = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        self.end()
