"""Reads exported answers as their consumers do, and prints what they see as one JSON object.

Usage: python sft_rows.py FOLDER CACHE. Runs in the judges' environment and never touches the network.
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
from trl.data_utils import apply_chat_template, is_conversational

TEMPLATE = (
    "{% if tools %}<tools>{{ tools | tojson }}</tools>{% endif %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}[{{ c.function.name }} {{ c.function.arguments | tojson }}]"
    "{% endfor %}{% endif %}</{{ m.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def main(folder: str, cache: str) -> None:
    datasets.disable_progress_bars()
    rows = list(datasets.load_dataset(folder, split="train", cache_dir=cache))
    seen = {"rows": rows}
    if rows and "completion" in rows[0]:
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]")), unk_token="[UNK]"
        )
        tokenizer.chat_template = TEMPLATE
        sides = [{name: row[name] for name in ("prompt", "completion")} for row in rows]
        seen["conversational"] = [is_conversational(row) for row in sides]
        seen["texts"] = [
            apply_chat_template(row, tokenizer, tools=json.loads(full["tools"]))
            for row, full in zip(sides, rows, strict=True)
        ]
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
