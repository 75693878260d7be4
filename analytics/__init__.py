"""Samples, sets and measures out of the conversations of a store.

from graphstore.analytics import export_preferences, export_sft

report = export_preferences(store, "pairs", as_="trl")
print(report.rows, report.left_out)
"""

from graphstore.analytics.accepted import DOUBTS, Untrained
from graphstore.analytics.export import MAX_NEGATIVES, ExportReport, export_preferences
from graphstore.analytics.formats import SFT_TARGETS, TARGETS
from graphstore.analytics.preferences import OPTIONAL, LeftOut
from graphstore.analytics.sft import AnswersReport, export_sft

__all__ = [
    "DOUBTS",
    "MAX_NEGATIVES",
    "OPTIONAL",
    "SFT_TARGETS",
    "TARGETS",
    "AnswersReport",
    "ExportReport",
    "LeftOut",
    "Untrained",
    "export_preferences",
    "export_sft",
]
