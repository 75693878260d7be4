"""Reads exported eval samples as Inspect AI does, and prints what it sees as one JSON object.

Usage: python inspect_samples.py FILE. Runs in the judges' environment and never touches the network.
"""

from __future__ import annotations

import json
import sys

from inspect_ai.dataset import json_dataset


def main(file: str) -> None:
    seen = [
        {
            "id": sample.id,
            "target": sample.target,
            "roles": [message.role for message in sample.input],
            "texts": [message.text for message in sample.input],
            "calls": [
                [call.id, call.function, call.arguments]
                for message in sample.input
                for call in getattr(message, "tool_calls", None) or ()
            ],
            "results": [[message.tool_call_id, message.function] for message in sample.input if message.role == "tool"],
            "rejected": sample.metadata["rejected"],
        }
        for sample in json_dataset(file)
    ]
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
