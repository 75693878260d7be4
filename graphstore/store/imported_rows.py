"""Imported conversations as rows to write: ids derived from the source's own, so that a second import finds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from graphstore import items, jsontext
from graphstore.fingerprint import derived_id, sha256
from graphstore.importers import ImportedCall, ImportedConversation
from graphstore.models import NodeKind
from graphstore.pairing import pair
from graphstore.store import writing
from graphstore.store.session import Session

_TICK = timedelta(microseconds=1)


def conversation_id_of(source: str, source_id: str) -> str:
    """The id of an imported conversation."""
    return derived_id("conversation", source, source_id)


def node_id_of(conversation_id: str, key: str) -> str:
    """The id of an imported call."""
    return derived_id("node", conversation_id, key)


@dataclass
class ImportRows:
    """One conversation as rows. ``nodes`` are parameters of ``write/import_nodes``, parents first.

    ``blobs`` are the heavy strings of a node, by its id.
    """

    imported: ImportedConversation
    conversation: dict[str, Any]
    nodes: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    blobs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cursor: str | None = None
    sizes: list[int] = field(default_factory=list)


def rows_of(session: Session, imported: ImportedConversation) -> ImportRows:
    """The rows of one conversation. Raises ``InvalidItems`` if an importer made something that is no item."""
    conversation_id = conversation_id_of(imported.source, imported.source_id)
    metadata = dict(imported.metadata)
    if imported.cursor_guessed:
        metadata["cursor_guessed"] = True
    rows = ImportRows(
        imported,
        {
            "id": conversation_id,
            "title": None if imported.title is None else jsontext.shield(imported.title),
            "source": imported.source,
            "source_id": jsontext.shield(imported.source_id),
            "metadata": jsontext.dumps(metadata),
            "created_at": imported.created_at,
            "updated_at": imported.updated_at,
            "compacted": any(call.compacts_key is not None for call in imported.calls),
        },
    )
    clock = _SiblingClock(imported.created_at or datetime.now(UTC))
    ids: dict[str, str] = {}
    for call in imported.calls:
        ids[call.key] = node_id_of(conversation_id, call.key)
        above = call.parent_key if call.compacts_key is None else call.compacts_key
        parent_id = None if above is None else ids[above]
        node, exact = _node(session.workspace, conversation_id, ids, call, parent_id, rows.settings)
        node["created_at"] = clock.time_of(call)
        node["finished_at"] = call.finished_at or node["created_at"]
        rows.sizes.append(len(node["sent"]) + len(node.get("returned") or ""))
        node, blobs = writing.lightened(session, node)
        if blobs:
            rows.blobs[node["id"]] = blobs
        rows.nodes.append(
            {"node": node, "parent_id": parent_id, "compacts": call.compacts_key is not None, "exact": exact}
        )
    if imported.cursor_key is not None:
        rows.cursor = ids[imported.cursor_key]
    return rows


def _node(
    workspace: str,
    conversation_id: str,
    ids: dict[str, str],
    call: ImportedCall,
    parent_id: str | None,
    settings: dict[str, str],
) -> tuple[dict[str, Any], bool]:
    sent = items.encode(call.sent, role="user")
    hashes: dict[str, str] = {}
    for name, value in (("system_hash", call.system_prompt), ("tools_hash", call.tools)):
        if value is not None:
            text = jsontext.dumps(value)
            hashes[name] = sha256(text)
            settings[hashes[name]] = text
    metadata = dict(call.metadata)
    if call.sent_keys or call.returned_keys:
        metadata["source_ids"] = {"sent": call.sent_keys, "returned": call.returned_keys}
    node = writing.sent_properties(
        workspace=workspace,
        conversation_id=conversation_id,
        node_id=ids[call.key],
        kind=NodeKind.TURN if call.compacts_key is None else NodeKind.COMPACTION,
        turn_id=ids.get(call.turn_key) or node_id_of(conversation_id, call.turn_key),
        round=call.round,
        is_root=parent_id is None,
        sent=sent,
        settings=hashes,
        context_hash=None,
        provider=call.provider,
        model=call.model,
        author=call.author,
        metadata=metadata or None,
    )
    if call.status == "failed":
        failed = writing.failed_properties(call.failure_kind or "error", call.failure_message or "", call.usage)
        return node | failed, sent.exact
    returned = items.encode(call.returned, role="assistant")
    node |= writing.succeeded_properties(sent, returned, call.usage, call.finish_reason, call.response_id)
    if call.compacts_key is not None:
        node["readers"] = call.readers
        # It may return calls beside their results: only what is left unpaired matters to what comes after.
        pairing = pair(call.returned)
        for name, dropped in (("call_ids", pairing.dropped_calls), ("result_ids", pairing.dropped_results)):
            node.pop(name, None)
            if dropped:
                node[name] = [jsontext.shield(call_id) for _, call_id in dropped]
    return node, sent.exact or returned.exact


class _SiblingClock:
    """Times of calls, so that siblings sort in the source's order also where it gives equal times or none."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._of: dict[str | None, datetime] = {}
        self._last: dict[str | None, datetime] = {}

    def time_of(self, call: ImportedCall) -> datetime:
        time = call.created_at
        if time is None:
            time = self._of.get(call.parent_key, self._start) + _TICK
        last = self._last.get(call.parent_key)
        if last is not None and (time == last or (call.created_at is None and time < last)):
            time = last + _TICK
        self._last[call.parent_key] = self._of[call.key] = time
        return time
