"""Examples of answers, for the OpenAPI document. The tests hold them against the models."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_AT = "2026-11-30T09:30:00Z"

SUMMARY: Json = {
    "id": "revenue",
    "title": "Revenue by region",
    "source": None,
    "source_id": None,
    "nodes": 3,
    "branches": 2,
    "cursor": "revenue-a2",
    "forked_from": None,
    "created_at": _AT,
    "updated_at": _AT,
}

CONVERSATION: Json = {
    "id": "revenue",
    "workspace": "default",
    "title": "Revenue by region",
    "created_at": _AT,
    "updated_at": _AT,
    "version": 3,
    "epoch": 0,
    "cursor": "revenue-a2",
    "source": None,
    "source_id": None,
    "forked_from": None,
    "forked_at": None,
    "turn": None,
    "metadata": {},
}

NODE: Json = {
    "id": "revenue-q1",
    "conversation_id": "revenue",
    "parent_id": None,
    "compacts_id": None,
    "kind": "turn",
    "status": "succeeded",
    "turn_id": "turn-1",
    "round": 0,
    "sent": [{"type": "message", "role": "user", "content": "What was our revenue in 2025?"}],
    "returned": [{"type": "message", "role": "assistant", "content": "It was 4.2 million."}],
    "partial": [],
    "finish_reason": "stop",
    "failure": None,
    "provider": "openai",
    "model": "gpt-5",
    "usage": {
        "input_tokens": 14,
        "output_tokens": 9,
        "cached_input_tokens": 0,
        "cache_write_tokens": 0,
        "reasoning_tokens": 0,
    },
    "author": "model",
    "created_at": _AT,
    "finished_at": _AT,
    "deleted_at": None,
    "tombstone": None,
    "system_hash": None,
    "tools_hash": None,
    "response_format_hash": None,
    "parameters_hash": None,
    "context_hash": "1b4f0e9851971998e732078544c96b36c3d01cedf7caa332359d6f1d83567014",
    "response_id": None,
    "readers": [],
    "options": {},
    "metadata": {},
}

MARKER: Json = {
    "node_id": "revenue-a2",
    "turn_id": "turn-2",
    "position": 2,
    "count": 2,
    "siblings": ["revenue-q1", "revenue-a2"],
    "left": "revenue-q1",
    "right": None,
    "version": 1,
    "versions": 1,
    "answer": 2,
    "answers": 2,
}

MOVE: Json = {
    "id": "019385f2-7a10-7c3e-9d21-0c8f3b6c5a11",
    "seq": 1,
    "at": _AT,
    "from_id": None,
    "to_id": "revenue-q1",
    "reason": "turn",
    "actor": None,
    "accepted": True,
}

UNSEEN_BRANCH: Json = {
    "node_id": "revenue-b1",
    "turn_id": "turn-3",
    "created_at": _AT,
    "refused_at": _AT,
}

CONTEXT: Json = {
    "as": "openai-chat",
    "hash": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
    "conversation_id": "revenue",
    "node_id": "revenue-q1",
    "nodes": ["revenue-q1"],
    "warnings": [],
    "expected": [],
    "request": {
        "messages": [
            {"role": "user", "content": "What was our revenue in 2025?"},
            {"role": "assistant", "content": "It was 4.2 million."},
        ]
    },
}

READINESS: Json = {
    "status": "ready",
    "version": "0.1.0",
    "workspace": "default",
    "database": {"name": "Neo4j Kernel", "version": "2026.08.1", "edition": "community"},
}
