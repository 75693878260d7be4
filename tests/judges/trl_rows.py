"""Reads exported preference rows as their consumers do, and prints what they see as one JSON object.

Usage: python trl_rows.py [--card-only] FOLDER CACHE. Runs in the judges' environment and never touches the network.
"""

from __future__ import annotations

import json
import os
import sys

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}

import datasets
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast
from trl.data_utils import apply_chat_template, is_conversational, maybe_extract_prompt, unpair_preference_dataset

TEMPLATE = (
    "{% if tools %}<tools>{{ tools | tojson }}</tools>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}[{{ c.function.name }} {{ c.function.arguments | tojson }}]"
    "{% endfor %}{% endif %}</{{ m.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
SIDES = ("prompt", "chosen", "rejected")


def main(folder: str, cache: str, card_only: bool) -> None:
    datasets.disable_progress_bars()
    by_card = datasets.load_dataset(folder, split="train", cache_dir=f"{cache}/card")
    if card_only:
        json.dump({"rows": list(by_card)}, sys.stdout)
        return
    by_file = datasets.load_dataset(
        "json", data_files=f"{folder}/preferences.jsonl", split="train", cache_dir=f"{cache}/file"
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]")), unk_token="[UNK]"
    )
    tokenizer.chat_template = TEMPLATE
    rows = list(by_card)
    explicit = [{side: row[side] for side in SIDES} for row in rows]
    unpaired = unpair_preference_dataset(by_card)
    seen = {
        "columns": by_card.column_names,
        "rows": rows,
        "same_by_file": [dict(row) for row in by_file] == rows,
        "conversational": [is_conversational(row) for row in explicit],
        "prompt_left_alone": [maybe_extract_prompt(row) == row for row in explicit],
        "texts": [
            apply_chat_template(pair, tokenizer, tools=json.loads(row["tools"]))
            for pair, row in zip(explicit, rows, strict=True)
        ],
        "unpaired": [
            {"row_id": row["row_id"], "label": row["label"], "prompt": row["prompt"], "completion": row["completion"]}
            for row in unpaired
        ],
    }
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[-2:], card_only="--card-only" in sys.argv)
