"""Calls that were made already, stored whole: what recorders stand on (rules S2, C2, C3).

A turn writes a call before it is made and again after it; a recorder learns of it when all is over, so one write does.
It relies on no lease: the compare-and-set alone decides, and a call that comes too late is kept as an unseen branch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Unpack

from graphstore import items, queries
from graphstore.context import Context, Settings
from graphstore.database import Row
from graphstore.errors import InvalidInput
from graphstore.fingerprint import derived_id, new_id
from graphstore.items import ItemsInput, ItemText
from graphstore.models import NodeKind, Reason, Usage
from graphstore.segments import extended
from graphstore.store import lost_turns, writing
from graphstore.store.assembly import assemble, readers_of, under_policy, with_new_items
from graphstore.store.conversations import check_id
from graphstore.store.held import Readers
from graphstore.store.refusals import refuse
from graphstore.store.session import Session
from graphstore.store.settings import CallOptions, InForce, in_force, limits_of, policy_of, recorded_options
from graphstore.window import Limits


class _End:
    """The type of ``END``: where the recorder's last call was, or where the conversation ended when it began."""

    def __repr__(self) -> str:
        return "END"


END: Final = _End()
_REASONS = (Reason.TURN, Reason.EDIT, Reason.REGENERATE)


class Recorder:
    """Stores the calls of one conversation after they were made, one write each.

    The conversation is read once, at the first call; from then on the recorder knows where it ends. When somebody else
    moves the cursor meanwhile, the next call is kept as an unseen branch, ``CursorMoved`` says so, and the recorder
    is over: what goes on from which end is the caller's to say. Use one recorder in one thread.
    """

    def __init__(self, session: Session, conversation_id: str) -> None:
        self._session = session
        self.conversation_id = conversation_id
        self.last_id: str | None = None
        self._base: Context | None = None
        self._over = False
        # Kept until its write is acknowledged: a call that is tried again after a lost answer finds itself.
        self._next_id = new_id()

    def look(self) -> str | None:
        """Read where the conversation ends now, and go on from there; returns that node (``None``: it is empty).

        The first ``record`` does so by itself. Raises ``ConversationNotFound``, ``PathBroken``.
        """
        return self._look(readers_of(None, None)).cursor

    def _look(self, readers: Readers) -> Context:
        self._base = assemble(self._session, self.conversation_id, None, readers)
        self._over = False
        return self._base

    def record(
        self,
        sent: ItemsInput,
        returned: ItemsInput,
        *,
        after: str | _End | None = END,
        same_turn: bool = False,
        reason: str = Reason.TURN,
        usage: Usage | dict[str, Any] | None = None,
        finish_reason: str | None = None,
        response_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> str:
        """Store a call with what it newly sent and what it returned; the cursor moves to it. Returns its id.

        ``after`` is the node that the call followed (``None``: it began the conversation), unless it went on from the
        end; ``reason`` is then ``"edit"`` or ``"regenerate"``. With ``same_turn`` it is a further round of the turn of
        the call before. Options as of ``Turn.call``, but for the limits of a context.
        Raises ``CursorMoved`` (the call is kept as an unseen branch), ``TurnInProgress`` (nothing is written; repeat it
        later), ``ConversationGone``, ``NodeNotFound``, ``IdConflict``, ``InvalidItems``, ``InvalidInput``,
        ``ReasoningMismatch``.
        """
        if self._over:
            raise InvalidInput(
                f"this recorder of conversation {self.conversation_id!r} lost its place when the cursor moved; look() "
                "goes on from where the conversation ends now"
            )
        if reason not in _REASONS:
            raise InvalidInput(f"{reason!r} is no reason for a recorded call; it is one of {', '.join(_REASONS)}")
        if limits_of(options).given:
            raise InvalidInput("a recorded call was made already, so its context can't be limited any more")
        encoded = items.encode(sent, role="user"), items.encode(returned, role="assistant")
        readers = readers_of(options.get("provider"), options.get("model"))
        base = self._at(self._base or self._look(readers), after, readers)
        settings = in_force(base.settings, options)
        context = with_new_items(self._session, replace(base, settings=settings.shown), encoded[0])
        policy = policy_of(options)
        context = under_policy(self._session, context, options.get("provider"), options.get("model"), policy)
        node_id = options.get("id") or self._next_id
        check_id(node_id, "node id")
        node = writing.sent_properties(
            workspace=self._session.workspace,
            conversation_id=self.conversation_id,
            node_id=node_id,
            kind=NodeKind.TURN,
            turn_id=node_id,
            round=0,
            is_root=base.segment is None,
            sent=encoded[0],
            settings=settings.properties,
            context_hash=context.hash,
            provider=options.get("provider"),
            model=options.get("model"),
            options=recorded_options(readers, options, Limits(), None, policy),
            metadata=options.get("metadata"),
        )
        node |= writing.succeeded_properties(*encoded, usage, finish_reason, response_id)
        row = self._write(node, base, encoded, settings, same_turn, reason)
        self._session.stored_settings.update(settings.texts)
        self._next_id = new_id()
        if row["outcome"] == "kept":
            self._over = True
        if row["outcome"] not in {"ok", "repeated"}:
            refuse(
                row,
                conversation_id=self.conversation_id,
                node_id=node_id,
                target_id=base.node_id,
                expected=base.cursor,
                kept=node_id,
            )
        self.last_id = node_id
        self._base = self._extended(base, node_id, encoded, settings)
        return node_id

    def _at(self, base: Context, after: str | _End | None, readers: Readers) -> Context:
        """What the call followed; the cursor that is expected stays the one the recorder knows."""
        end = base.node_id if isinstance(after, _End) else after
        if end == base.node_id and readers == base.readers:
            return base
        if end is None:
            return replace(base, segment=None, settings=Settings(), readers=readers)
        elsewhere = assemble(self._session, None, end, readers)
        return replace(base, segment=elsewhere.segment, settings=elsewhere.settings, readers=readers)

    def _write(
        self,
        node: dict[str, Any],
        base: Context,
        encoded: tuple[ItemText, ItemText],
        settings: InForce,
        same_turn: bool,
        reason: str,
    ) -> Row:
        node, blobs = writing.lightened(self._session, node)
        return lost_turns.past_lost_turns(
            self._session,
            self.conversation_id,
            lambda: self._session.row(
                queries.RECORD_CALL,
                conversation_id=self.conversation_id,
                node=node,
                blobs=blobs,
                node_id=node["id"],
                parent_id=base.node_id,
                expected=base.cursor,
                epoch=base.epoch or 0,
                exact=any(one.exact for one in encoded),
                move_id=derived_id("record", node["id"]),
                reason=reason,
                actor=self._session.actor,
                keep=True,
                same_turn=same_turn,
                settings=settings.unstored(self._session),
            ),
        )

    def _extended(self, base: Context, node_id: str, encoded: tuple[ItemText, ItemText], settings: InForce) -> Context:
        """The context below the call just stored, held for whoever asks next; nothing is read for it."""
        sent, returned = encoded
        segment = extended(
            base.segment,
            node_id,
            frozenset(owner for owner in base.owners if owner[0] == self.conversation_id),
            sent.text,
            returned.text,
            [*sent.call_ids, *returned.call_ids],
            [*sent.result_ids, *returned.result_ids],
            sent.exact or returned.exact,
        )
        self._session.held.put(base.readers, self.conversation_id, segment)
        return replace(base, segment=segment, settings=settings.shown, cursor=node_id)
