"""Samples, sets and measures out of the conversations of a store.

from graphstore.analytics import export_preferences, export_sft

report = export_preferences(store, "pairs", as_="trl")
print(report.rows, report.left_out)
"""

from graphstore.analytics.accepted import DOUBTS, Untrained
from graphstore.analytics.export import (
    MAX_NEGATIVES,
    ExportReport,
    export_evals,
    export_preferences,
    export_unpaired,
)
from graphstore.analytics.formats import EVAL_TARGETS, PROMPT_TARGETS, SFT_TARGETS, TARGETS, UNPAIRED_TARGETS
from graphstore.analytics.preferences import OPTIONAL, LeftOut
from graphstore.analytics.sft import AnswersReport, export_prompts, export_sft

__all__ = [
    "DOUBTS",
    "EVAL_TARGETS",
    "MAX_NEGATIVES",
    "OPTIONAL",
    "PROMPT_TARGETS",
    "SFT_TARGETS",
    "TARGETS",
    "UNPAIRED_TARGETS",
    "AnswersReport",
    "ExportReport",
    "LeftOut",
    "Untrained",
    "export_evals",
    "export_preferences",
    "export_prompts",
    "export_sft",
    "export_unpaired",
]
