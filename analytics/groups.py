"""A branch point in a target's words, and the provenance of its rows (rules N4, N10). Pure."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import orjson

from graphstore import jsontext
from graphstore.analytics import prompts, sampling
from graphstore.analytics.formats.projection import NotExpressible
from graphstore.analytics.preferences import AcceptedPath, Group, LeftOut, Pair, Reply
from graphstore.analytics.prompts import Texts
from graphstore.context import Context

Json = dict[str, Any]


def asked(group: Group) -> Reply:
    """The call whose context is the prompt: a person's correction stands where a model was asked."""
    chosen = group.branch.chosen
    return chosen if chosen.author == "model" else group.pairs[0].rejected


def project(
    target: ModuleType,
    path: AcceptedPath,
    group: Group,
    texts: Texts,
    context: Context,
    left_out: Counter[str],
) -> Json | None:
    """A branch point's rows before any is picked; what has no place in the target is counted in ``left_out``."""
    shared = _shared(target, path, group, texts, context)
    if isinstance(shared, LeftOut):
        left_out[shared.value] += len(group.pairs)
        return None
    pairs = []
    for pair in group.pairs:
        projected = _pair(target, group.branch.chosen, shared, pair, texts)
        if isinstance(projected, LeftOut):
            left_out[projected.value] += 1
        else:
            pairs.append(projected)
    return {**shared, "pairs": pairs} if pairs else None


def _shared(target: ModuleType, path: AcceptedPath, group: Group, texts: Texts, context: Context) -> Json | LeftOut:
    """What all rows of a branch point have in common: the prompt and the chosen answer."""
    branch, chosen = group.branch, group.branch.chosen
    if chosen.context_hash is not None and context.hash != chosen.context_hash:
        return LeftOut.CONTEXT_NOT_REPRODUCED
    try:
        messages = target.prompt(context)
        answer = target.completion(prompts.returned_items(texts, chosen.id, texts.returned[branch.place]))
        written = {"prompt": target.text(messages), "chosen": target.text(answer), "tools": target.tools(context)}
    except NotExpressible:
        return LeftOut.NOT_EXPRESSIBLE
    if not target.ends_well(messages):
        return LeftOut.PROMPT_END
    if not answer:
        return LeftOut.CHOSEN_EMPTY
    visible = _visible(answer)
    return {
        **written,
        "group_id": sampling.group_id(path.conversation_id, chosen.id),
        "prompt_key": sampling.text_key([messages, written["tools"]]),
        "chosen_key": sampling.text_key(answer),
        "prompt_length": len(_visible(messages)),
        "with_tools": written["tools"] != "[]" or _calls_tools(messages) or _calls_tools(answer),
        "visible": visible,
        "length": len(visible),
        "meta": {
            "source": path.source,
            "conversation_id": path.conversation_id,
            "root_id": path.root_id,
            "prompt_leaf_id": branch.parent_id,
            "divergence_depth": branch.place,
            "siblings": len(branch.siblings) + 1,
            "chosen_node_id": chosen.id,
            "context_hash": chosen.context_hash,
            "chosen": _side(chosen),
        },
    }


def _pair(target: ModuleType, chosen: Reply, shared: Json, pair: Pair, texts: Texts) -> Json | LeftOut:
    stored = texts.returned_by.get(pair.rejected.id)
    if stored is None:
        return LeftOut.GONE_MEANWHILE
    try:
        answer: list[Json] = target.completion(prompts.returned_items(texts, pair.rejected.id, stored))
        written = target.text(answer)
    except NotExpressible:
        return LeftOut.NOT_EXPRESSIBLE
    if not answer:
        return LeftOut.EMPTY
    key, visible = sampling.text_key(answer), _visible(answer)
    if key == shared["chosen_key"]:
        return LeftOut.IDENTICAL
    return {
        "row_id": sampling.row_id(chosen.id, pair.rejected.id),
        "key": key,
        "rejected": written,
        "length": len(visible),
        "calls_tools": _calls_tools(answer),
        "similarity": sampling.similarity(shared["visible"], visible),
        "same_model": (chosen.author, chosen.provider, chosen.model)
        == (pair.rejected.author, pair.rejected.provider, pair.rejected.model),
        "meta": {
            "rejected_node_id": pair.rejected.id,
            "branch_kind": pair.kind,
            "context_verified": pair.context_verified,
            "choice_evidence": pair.evidence,
            "evidence_grade": pair.grade,
            "turns_after": pair.turns_after,
            "chosen_by": pair.chosen_by,
            "chosen_at": pair.chosen_at,
            "chosen_move": pair.chosen_move,
            "rejected": _side(pair.rejected),
        },
    }


def _side(reply: Reply) -> Json:
    return {
        "author": reply.author,
        "provider": reply.provider,
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "created_at": reply.made,
        "parameters_hash": reply.parameters_hash,
        "rated": reply.rated,
        "usage": jsontext.loads(reply.usage) if reply.usage else None,
    }


def _calls_tools(messages: list[Json]) -> bool:
    return any(message["role"] == "tool" or "tool_calls" in message for message in messages)


def _visible(messages: list[Json]) -> str:
    """What a reader of the messages sees, tool calls as they are written."""
    pieces = []
    for message in messages:
        pieces.append(message["content"])
        if "tool_calls" in message:
            pieces.append(orjson.dumps(message["tool_calls"]).decode())
    return "\n".join(piece for piece in pieces if piece)
