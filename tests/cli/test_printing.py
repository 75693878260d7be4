"""JSON for programs, harmless text for people, exit codes: pure parts of the command line."""

from __future__ import annotations

import inspect
import json

import pytest

from graphstore import errors
from graphstore.cli import exits, ids, jsonview, output
from graphstore.cli.plain import one_line
from graphstore.errors import GraphStoreError
from graphstore.models import Message, Usage


@pytest.mark.rule("L3")
def test_every_error_of_the_package_has_an_exit_code_in_the_table():
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, GraphStoreError)]
    assert len(kinds) > 15
    for kind in kinds:
        assert exits.code_of(kind.__new__(kind)) in exits.MEANING
    assert exits.code_of(errors.ConversationNotFound("x", "w")) == 3
    assert exits.code_of(errors.ServerUnavailable("x")) == 4
    assert exits.code_of(errors.CursorMoved("c", None, None, None)) == 1


@pytest.mark.rule("L3")
@pytest.mark.parametrize("code", [chr(c) for c in [*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066, 0xFEFF, 0xD800]])
def test_no_character_that_acts_on_a_terminal_survives(code):
    assert code not in one_line(f"a{code}b") or code == " "
    assert code not in jsonview.harmless(f'"é{code}"') or code == "\n"


@pytest.mark.rule("L3")
def test_scripts_and_emoji_stay_as_they_are():
    assert one_line("Größe 漢字 👩‍💻 می‌خواهم") == "Größe 漢字 👩‍💻 می‌خواهم"


@pytest.mark.rule("L3")
def test_indented_json_is_the_same_document_with_the_same_number_text():
    text = '{"a":[],"b":{},"c":[1e400,-0,12345678901234567890],"d":{"e":"x,y:{\\"}[","f":[[],[{}]]}}'
    shown = jsonview.indented(text)
    assert json.loads(shown) == json.loads(text)
    assert "1e400" in shown
    assert "-0" in shown
    assert '"a": []' in shown
    assert shown.splitlines()[1] == '  "a": [],'


@pytest.mark.rule("L3")
def test_json_of_models_keeps_unknown_fields_and_lone_surrogates():
    made = json.loads(output.as_json([Message(role="user", content="\ud83d"), Usage(input_tokens=1, odd=2)]))
    assert made[0]["content"] == "\ud83d"
    assert made[1]["odd"] == 2


@pytest.mark.rule("L3")
def test_short_ids_tell_apart_and_given_names_stay_whole():
    alike = ["01a22e9d-66ff-76b0-973d-000000000001", "01a22e9d-66ff-76b0-973d-100000000001"]
    assert ids.short([*alike, "support-case-7"]) == {
        alike[0]: alike[0][-12:],
        alike[1]: alike[1][-12:],
        "support-case-7": "support-case-7",
    }
