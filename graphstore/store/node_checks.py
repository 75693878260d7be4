"""What must hold for one stored node by itself and beside what it hangs on (rule L5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graphstore import fingerprint, items, jsontext
from graphstore.database import Row
from graphstore.errors import GraphStoreError
from graphstore.models import Disagreement
from graphstore.pairing import call_ids, pair, result_ids
from graphstore.payloads import Payloads, hashes_in

Found = Iterator[Disagreement]


def check(row: Row, payloads: Payloads, workspace: str) -> Found:
    """All that disagrees within a row of ``read/verify_nodes``. ``payloads`` are those that its text refers to."""
    stored: dict[str, Any] = row["properties"]

    def wrong(what: str, has: object, true: object) -> Disagreement:
        return Disagreement(what=what, kind="Node", id=row["id"], stored=f"{has}", true=f"{true}")

    yield from _hangs(row, stored, workspace, wrong)
    yield from _hidden(row, stored, wrong)
    yield from _blobs(row, stored, wrong)
    try:
        sent = payloads.restored(stored["sent"])
        returned = None if "returned" not in stored else payloads.restored(stored["returned"])
        decoded = [
            [] if text is None else items.decode(text, exact="ExactText" in row["labels"]) for text in (sent, returned)
        ]
    except (GraphStoreError, KeyError) as error:
        yield wrong("text", "text that can't be read", f"JSON of items: {error}")
        return
    true = fingerprint.sha256(sent)
    if stored.get("sent_hash") != true:
        yield wrong("sent_hash", stored.get("sent_hash"), true)
    yield from _ids(stored, decoded[0], decoded[1], wrong)
    yield from _result(stored, returned, decoded[0], decoded[1], wrong)


Wrong = Callable[[str, object, object], Disagreement]


def _hangs(row: Row, stored: dict[str, Any], workspace: str, wrong: Wrong) -> Found:
    parents, originals = row["parents"], row["originals"]
    compaction = "Compaction" in row["labels"]
    if compaction != (stored["kind"] == "compaction"):
        yield wrong("compaction", f"kind {stored['kind']!r}, labels {row['labels']}", "the label and the kind agree")
    needed = (0, 1) if compaction else (0 if stored["is_root"] else 1, 0)
    if (len(parents), len(originals)) != needed:
        yield wrong(
            "parent",
            f"{len(parents)} parents, {len(originals)} originals",
            f"{needed[0]} parents, {needed[1]} originals, as a "
            + ("compaction" if compaction else "root" if stored["is_root"] else "node that is no root"),
        )
    starts = [stored["conversation_id"]] if stored["is_root"] else []
    if row["starts"] != starts:
        yield wrong("starts", f"begun by conversations {row['starts']}", f"begun by {starts}")
    for above in [*parents, *originals]:
        if above["key"] != [workspace, row["id"]]:
            yield wrong("relationship_key", above["key"], [workspace, row["id"]])
        if above["workspace"] != workspace:
            yield wrong("workspace", f"hangs on a node of workspace {above['workspace']!r}", "its own workspace")
    for original in originals:
        if original["readers"] != stored.get("readers"):
            yield wrong("readers", original["readers"], stored.get("readers"))
    for parent in parents:
        if stored["round"] > 0 and parent["kind"] != "compaction":
            line = (parent["turn_id"], parent["round"] + 1)
            if line != (stored["turn_id"], stored["round"]):
                yield wrong(
                    "turn_line",
                    f"round {stored['round']} of turn {stored['turn_id']!r}",
                    f"its parent is round {parent['round']} of turn {parent['turn_id']!r}",
                )


def _hidden(row: Row, stored: dict[str, Any], wrong: Wrong) -> Found:
    above = next(iter([*row["parents"], *row["originals"]]), None)
    tombstone = stored.get("tombstone")
    if (tombstone is None) != ("deleted_at" not in stored):
        yield wrong("tombstone", f"tombstone {tombstone!r}, hidden since {stored.get('deleted_at')}", "both or neither")
    elif tombstone is None:
        if above is not None and above["hidden"]:
            yield wrong("tombstone", "to be seen", f"hidden, as {above['id']!r} above it is")
    elif tombstone != row["id"] and (above is None or above["tombstone"] != tombstone):
        yield wrong("tombstone", f"hidden by {tombstone!r}", "a tombstone on the node itself or above it")


def _blobs(row: Row, stored: dict[str, Any], wrong: Wrong) -> Found:
    for digest in row["unstored"]:
        yield wrong("setting", f"refers to blob {digest!r}", "there is no such blob")
    refers = hashes_in([stored.get("sent"), stored.get("returned")])
    if sorted(row["uses"]) != refers:
        yield wrong("uses", f"uses blobs {sorted(row['uses'])}", f"its text refers to {refers}")
    if bool(refers) and "Heavy" not in row["labels"]:
        yield wrong("heavy", "no label Heavy", "its text refers to blobs")


def _ids(stored: dict[str, Any], sent: list[Any], returned: list[Any], wrong: Wrong) -> Found:
    if stored["kind"] == "compaction":
        pairing = pair(returned)
        true = {
            "call_ids": [call_id for _, call_id in pairing.dropped_calls],
            "result_ids": [call_id for _, call_id in pairing.dropped_results],
        }
    else:
        true = {"call_ids": call_ids([*sent, *returned]), "result_ids": result_ids([*sent, *returned])}
    for name, ids in true.items():
        shielded = [jsontext.shield(one) for one in ids]
        if (stored.get(name) or []) != shielded:
            yield wrong(name, stored.get(name), shielded)


def _result(stored: dict[str, Any], returned: str | None, sent: list[Any], back: list[Any], wrong: Wrong) -> Found:
    status, recorded = stored["status"], stored.get("result_hash")
    if (status == "succeeded") != (returned is not None):
        yield wrong("status", f"status {status!r}", "succeeded if, and only if, its returned items are there")
    if "erased_at" in stored:
        return  # it was made of what is blanked
    lost = status == "failed" and stored.get("failure_kind") == "lost"
    if status == "pending" or recorded is None:
        if recorded is not None or (status != "pending" and not lost):
            yield wrong("result_hash", recorded, "one if, and only if, the call was settled by its own completion")
        return
    true = _result_hashes(stored, returned, sent, back)
    if recorded not in true:
        yield wrong("result_hash", recorded, true[0])


def _result_hashes(stored: dict[str, Any], returned: str | None, sent: list[Any], back: list[Any]) -> list[str]:
    """The hash of what settled the call: with and without a model, as only some completions name one."""
    if stored["status"] == "succeeded":
        names: tuple[str, ...] = ("usage", "finish_reason", "response_id")
        made: dict[str, Any] = {"status": "succeeded", "returned": returned}
        before = [] if stored["kind"] == "compaction" else sent
        for name, ids in (("call_ids", call_ids), ("result_ids", result_ids)):
            if ids(back):
                made[name] = [jsontext.shield(one) for one in ids([*before, *back])]
    else:
        names = ("usage", "response_id", "failure_kind", "failure_message")
        made = {"status": "failed"}
    made |= {name: stored[name] for name in names if name in stored}
    forms = [made, {**made, "model": stored.get("model")}]
    return [fingerprint.content_hash(form) for form in forms]
