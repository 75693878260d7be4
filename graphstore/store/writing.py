"""What a node is made of, as stored properties; absent ones are left out, since the database has no null property."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphstore import fingerprint, items, jsontext
from graphstore.items import ItemText
from graphstore.models import NodeKind, Usage
from graphstore.payloads import PLAIN_TEXT, Payload, split
from graphstore.plaintext import searchable, texts_of
from graphstore.store import checking
from graphstore.store.session import Session


def sent_properties(
    *,
    workspace: str,
    conversation_id: str,
    node_id: str,
    kind: NodeKind,
    turn_id: str,
    round: int,
    is_root: bool,
    sent: ItemText,
    settings: dict[str, str],
    context_hash: str | None,
    provider: str | None = None,
    model: str | None = None,
    author: str = "model",
    options: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The properties of a node as it is before its call: status ``pending``."""
    properties: dict[str, Any] = {
        "workspace": workspace,
        "id": node_id,
        "conversation_id": conversation_id,
        "kind": kind.value,
        "status": "pending",
        "turn_id": turn_id,
        "round": round,
        "is_root": is_root,
        "author": author,
        "sent": sent.text,
        "sent_hash": fingerprint.sha256(sent.text),
        "text": _ToSearch((sent,)),
        **settings,
    }
    optional = {
        "provider": checking.text(provider, "a provider"),
        "model": checking.text(model, "a model"),
        "context_hash": context_hash,
        "call_ids": list(sent.call_ids) or None,
        "result_ids": list(sent.result_ids) or None,
        "options": jsontext.dumps(options) if options else None,
        "metadata": jsontext.dumps(metadata) if checking.json_object(metadata, "metadata") else None,
    }
    properties.update({name: value for name, value in optional.items() if value is not None})
    return properties


def succeeded_properties(
    sent: ItemText,
    returned: ItemText,
    usage: Usage | dict[str, Any] | None = None,
    finish_reason: str | None = None,
    response_id: str | None = None,
    model: str | None = None,
) -> dict[str, Any]:
    """What a successful completion adds to a node."""
    properties: dict[str, Any] = {"status": "succeeded", "returned": returned.text}
    optional = {
        "usage": None if usage is None else jsontext.dumps(checking.usage(usage)),
        "finish_reason": checking.text(finish_reason, "a finish reason"),
        "response_id": checking.text(response_id, "a response id"),
        "model": checking.text(model, "a model"),
        "call_ids": [*sent.call_ids, *returned.call_ids] if returned.call_ids else None,
        "result_ids": [*sent.result_ids, *returned.result_ids] if returned.result_ids else None,
    }
    properties.update({name: value for name, value in optional.items() if value is not None})
    return {**with_result_hash(properties), "text": _ToSearch((sent, returned))}


def failed_properties(
    kind: str, message: str, usage: Usage | dict[str, Any] | None = None, response_id: str | None = None
) -> dict[str, Any]:
    """What a failed completion adds to a node."""
    checking.text(kind, "a failure's kind")
    shielded = jsontext.shield(checking.text(message, "a failure's message") or "")
    properties: dict[str, Any] = {"status": "failed", "failure_kind": kind, "failure_message": shielded}
    if usage is not None:
        properties["usage"] = jsontext.dumps(checking.usage(usage))
    if response_id is not None:
        properties["response_id"] = checking.text(response_id, "a response id")
    return with_result_hash(properties)


def with_result_hash(properties: dict[str, Any]) -> dict[str, Any]:
    """The properties with the hash that tells a repeated completion from a different one."""
    return {**properties, "result_hash": fingerprint.content_hash(properties)}


@dataclass(frozen=True)
class _ToSearch:
    """The items whose words a node is found by; ``lightened`` makes text of them."""

    parts: tuple[ItemText, ...]

    def text(self, limit: int) -> str:
        """Their words, without those of strings that are stored apart once, and are searched there."""
        payloads = [one for part in self.parts for one in split(part.text, limit)[1].values()]
        apart = {one.data for one in payloads if one.media_type == PLAIN_TEXT}
        decoded = (item for part in self.parts for item in items.decode(part.text, exact=part.exact))
        return searchable(texts_of(decoded), apart)


def lightened(session: Session, properties: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A node's properties as they are stored, and as parameters of a write what is stored apart, in order of hash.

    Heavy strings become references. A node's hashes are of its items as they were given, so they are made before.
    """
    payloads: dict[str, Payload] = {}
    lighter = dict(properties)
    for name in ("sent", "returned"):
        if name in properties:
            lighter[name], apart = split(properties[name], session.blob_bytes)
            payloads |= apart
    if "text" in properties:
        lighter["text"] = properties["text"].text(session.blob_bytes)
    return lighter, blobs_of(payloads)


def blobs_of(payloads: dict[str, Payload]) -> list[dict[str, Any]]:
    """Payloads as parameters of a write. Their order is that in which they are locked: whoever locks several agrees."""
    return [
        {"sha256": digest, "data": one.data, "size": len(one.data.encode()), "media_type": one.media_type}
        for digest, one in sorted(payloads.items())
    ]
