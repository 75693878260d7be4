"""Samples, sets and measures out of the conversations of a store.

from graphstore.analytics import export_preferences

report = export_preferences(store, "pairs", as_="trl")
print(report.rows, report.left_out)
"""

from graphstore.analytics.export import MAX_NEGATIVES, ExportReport, export_preferences
from graphstore.analytics.formats import TARGETS
from graphstore.analytics.preferences import OPTIONAL, LeftOut

__all__ = ["MAX_NEGATIVES", "OPTIONAL", "TARGETS", "ExportReport", "LeftOut", "export_preferences"]
