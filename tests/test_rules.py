"""Every rule of the contract has a test: the markers are read from the test files, without running them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent

# The contract as far as it is built; a rule joins this list with the part that builds it.
RULES = [
    "S1",
    "S2",
    "S3",
    "S4",
    "S5",
    "S6",
    "S7",
    "S8",
    "S9",
    "A1",
    "A2",
    "A3",
    "A4",
    "A5",
    "A6",
    "A7",
    "C1",
    "C2",
    "C3",
    "C4",
    "C5",
    "C6",
    "C7",
    "B1",
    "B2",
    "B3",
    "B4",
    "B5",
    "B6",
    "B7",
    "V1",
    "V2",
    "F1",
    "F2",
    "F3",
    "F4",
    "K1",
    "K2",
    "K3",
    "K4",
    "X1",
    "X2",
    "X3",
    "X4",
    "D1",
    "D2",
    "R1",
    "R2",
    "P1",
    "P2",
    "P3",
    "T1",
    "T2",
    "T3",
    "T4",
    "U1",
    "U2",
    "U3",
    "U4",
    "W1",
    "W2",
    "W3",
    "W4",
    "W5",
    "W6",
    "W7",
    "I1",
    "I2",
    "I3",
    "I4",
    "I5",
    "I6",
    "I7",
    "N1",
    "N2",
    "N3",
    "N4",
    "N5",
    "N7",
    "L1",
    "L2",
    "L4",
    "L5",
    "Z3",
]


def marked(tree: ast.AST) -> Iterator[str]:
    """The rule ids in the ``pytest.mark.rule(…)`` calls of a test file that mark a test, a class or the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            places: list[ast.AST] = list(node.decorator_list)
        elif isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets
        ):
            places = [node.value]
        else:
            continue
        for call in (inner for place in places for inner in ast.walk(place)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.rule":
                for argument in call.args:
                    yield ast.literal_eval(argument)


def rules_with_tests() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for rule in marked(ast.parse(path.read_text("utf-8"), str(path))):
            found.setdefault(rule, []).append(str(path.relative_to(TESTS)))
    return found


def test_every_rule_of_the_contract_has_a_test():
    proven = rules_with_tests()
    missing = [rule for rule in RULES if rule not in proven]
    print("rules without a test:", " ".join(missing) or "none")  # noqa: T201 - the list is what this test is for
    assert not missing, f"no test carries @pytest.mark.rule for {', '.join(missing)}"


def test_markers_name_rules_by_their_ids():
    wrong = {rule: where for rule, where in rules_with_tests().items() if not re.fullmatch(r"[A-Z][1-9][0-9]?", rule)}
    assert not wrong


def test_a_marker_is_found_on_a_function_a_class_and_a_module():
    source = """
import pytest
pytestmark = [pytest.mark.rule("S1")]
@pytest.mark.rule("A1", "A2")
class TestIt:
    @pytest.mark.rule("B1")
    def test_it(self): ...
not_a_marker = "pytest.mark.rule('C1')"
"""
    assert sorted(marked(ast.parse(source))) == ["A1", "A2", "B1", "S1"]
