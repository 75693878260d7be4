"""Effects: what reaches the outside, recorded on the node that proposed it and carried out once (rules T2, T3).

The store carries nothing out and undoes nothing: it says who may, and keeps what came of it.
"""

from __future__ import annotations

from typing import Any, Literal, NoReturn

from graphstore import fingerprint, jsontext, queries
from graphstore.database import Row
from graphstore.errors import (
    ConversationGone,
    EffectNotFound,
    EffectRefused,
    IdConflict,
    InvalidInput,
    NodeNotFound,
)
from graphstore.models import Effect, EffectStatus
from graphstore.store import conversations, lost_turns, reading
from graphstore.store.session import Session


class Effects:
    """The effects of a workspace: ``store.effects``.

    proposed → approved or rejected → (claimed) done or failed → compensated. One that can be undone may be claimed
    without approval. Every verb may be repeated and changes nothing then.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def propose(
        self,
        node_id: str,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        reversible: bool = False,
        compensation: dict[str, Any] | None = None,
        id: str | None = None,
    ) -> str:
        """Record that a node wants ``name`` done with ``arguments``; returns the effect's id.

        ``compensation`` says how to undo it, in words of your own. Raises ``NodeNotFound``, ``IdConflict``.
        """
        effect_id = id or fingerprint.new_id()
        conversations.check_id(effect_id, "effect id")
        conversations.check_id(name, "effect name")
        effect: dict[str, Any] = {"name": name, "arguments": _object(arguments or {}), "reversible": reversible}
        if compensation is not None:
            effect["compensation"] = _object(compensation)
        effect["proposal_hash"] = fingerprint.content_hash(effect)
        row = self._session.row(queries.PROPOSE_EFFECT, node_id=node_id, effect_id=effect_id, effect=effect)
        if row is None:
            raise NodeNotFound(node_id, f"the branches of workspace {self._session.workspace!r} that are to be seen")
        if row["outcome"] == "conflict":
            raise IdConflict("effect", effect_id)
        return effect_id

    def approve(self, effect_id: str, *, by: str | None = None) -> None:
        """Allow a proposed effect; ``by`` is recorded (default: the store's actor). Raises ``EffectRefused``."""
        self._decide(effect_id, EffectStatus.APPROVED, by)

    def reject(self, effect_id: str, *, by: str | None = None) -> None:
        """Forbid a proposed effect for good. Raises ``EffectRefused``."""
        self._decide(effect_id, EffectStatus.REJECTED, by)

    def claim(self, effect_id: str, worker: str, *, claim_id: str | None = None) -> Effect:
        """Take an effect to carry it out: of all that try, one is given it and the others ``EffectRefused``.

        One that can't be undone must be approved, and its node on the history path of the conversation that owns it, up
        to the last node of a running turn. Whoever doesn't know whether a claim was heard repeats it with the same
        ``claim_id``. Raises ``EffectNotFound``, ``EffectRefused``, ``ConversationGone``.
        """
        conversations.check_id(worker, "worker's name")
        claim = claim_id or fingerprint.new_id()
        while True:
            row = self._session.row(queries.CLAIM_EFFECT, effect_id=effect_id, worker=worker, claim_id=claim)
            if row is None:
                raise EffectNotFound(effect_id, self._session.workspace)
            match row["outcome"]:
                case "ok" | "repeated":
                    return reading.effect_of(row)
                case "handed":
                    continue
                case "turn_expired":
                    lost_turns.settle(self._session, row["conversation_id"], row["turn_id"])
                case "gone":
                    raise ConversationGone(row["conversation_id"])
                case _:
                    _refuse(effect_id, row)

    def finish(self, effect_id: str, status: Literal["done", "failed"], result: Any = None) -> None:
        """Record what came of a claimed effect; ``result`` is any JSON value. Raises ``EffectRefused``."""
        if status not in {"done", "failed"}:
            raise InvalidInput(f"an effect ends done or failed, not {status!r}")
        change = {"result": jsontext.dumps(result)}
        self._change(effect_id, EffectStatus(status), (EffectStatus.PROPOSED, EffectStatus.APPROVED), True, change)

    def compensate(self, effect_id: str, result: Any = None) -> None:
        """Record that an effect (done, or failed half-way) was undone by other means. Raises ``EffectRefused``."""
        change = {"compensation_result": jsontext.dumps(result)}
        self._change(effect_id, EffectStatus.COMPENSATED, (EffectStatus.DONE, EffectStatus.FAILED), True, change)

    def get(self, effect_id: str) -> Effect:
        """One effect. Raises ``EffectNotFound``."""
        row = self._session.row(queries.EFFECT, effect_id=effect_id)
        if row is None:
            raise EffectNotFound(effect_id, self._session.workspace)
        return reading.effect_of(row)

    def of(self, conversation_id: str) -> list[Effect]:
        """The effects of all nodes that a conversation owns, on every branch, in the order they were proposed."""
        return [reading.effect_of(row) for row in self._rows(conversation_id, None)]

    def left_behind(self, conversation_id: str, *, from_node: str | None = None) -> list[Effect]:
        """The effects done and not compensated on branches that the conversation has left, oldest first.

        With ``from_node`` only those of the path that ends there, such as the node a switch came from. ``compensation``
        says how to undo each, if that is known.
        """
        return [
            reading.effect_of(row)
            for row in self._rows(conversation_id, from_node)
            if row["e"]["status"] == EffectStatus.DONE and not row["on_path"] and (from_node is None or row["on_named"])
        ]

    def _rows(self, conversation_id: str, node_id: str | None) -> list[Row]:
        rows = self._session.rows(queries.EFFECTS, conversation_id=conversation_id, node_id=node_id)
        if not rows:
            conversations.get(self._session, conversation_id)
        if node_id is not None:
            conversations.node(self._session, node_id)
        return rows

    def _decide(self, effect_id: str, status: EffectStatus, by: str | None) -> None:
        change = {"decided_by": by or self._session.actor}
        self._change(effect_id, status, (EffectStatus.PROPOSED,), False, change)

    def _change(
        self,
        effect_id: str,
        status: EffectStatus,
        expected: tuple[EffectStatus, ...],
        claimed: bool,
        change: dict[str, Any],
    ) -> None:
        row = self._session.row(
            queries.CHANGE_EFFECT,
            effect_id=effect_id,
            status=status.value,
            expected=[each.value for each in expected],
            claimed=claimed,
            change=change,
            # Who decides may differ between two of the same decision; what came of it may not.
            change_hash=fingerprint.content_hash(change) if claimed else "",
        )
        if row is None:
            raise EffectNotFound(effect_id, self._session.workspace)
        if row["outcome"] not in {"ok", "repeated"}:
            _refuse(effect_id, row)


def _refuse(effect_id: str, row: Row) -> NoReturn:
    raise EffectRefused(effect_id, row["name"], row["outcome"], row["status"], row["worker"])


def _object(value: dict[str, Any]) -> str:
    if not isinstance(value, dict):
        raise InvalidInput(f"the arguments of an effect are a JSON object, not {type(value).__name__}")
    return jsontext.dumps(value)
