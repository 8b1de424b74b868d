"""Whatever a model writes where JSON was asked for, it is read or refused in words; so are arguments of its tools."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.artifact import Artifact, Draft, Malformed, Repair, parsed
from compaction.domain.check.answers import HalfAnswer, InventoryAnswer, MappingAnswer
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.toolbox import TOOLS
from efforts.tools import arguments_of
from efforts.tools.base import ToolError
from tests.fuzz.strategies import as_json, changed, spoilt_text, texts, tried

CLAIM = {"id": "c1", "section": "decision", "text": "Postgres it is.", "cites": ["t1.u1"], "replaces": None, "to": "x"}
FORMS = {
    Draft: {"claims": [CLAIM]},
    Repair: {"claims": [CLAIM], "drop": ["c2"]},
    HalfAnswer: {"verdicts": [{"note": 1, "verdict": "entailed", "phrase": "", "sentence": "t1.u1", "why": ""}]},
    InventoryAnswer: {"entries": [{"kind": "decision", "text": "x", "sentences": ["t1.u1"]}]},
    MappingAnswer: {"told": [{"entry": 1, "notes": [1]}]},
    Artifact: {"artifact_id": "cmp_1", "claims": [CLAIM]},
}


def written(template: object) -> st.SearchStrategy[str]:
    whole = changed(template).map(as_json)
    return st.one_of(whole, whole.flatmap(spoilt_text), texts)


@tried(200)
@given(st.sampled_from(list(FORMS)).flatmap(lambda form: st.tuples(st.just(form), written(FORMS[form]))))
def test_an_answer_is_read_or_refused_in_words(asked) -> None:
    form, answer = asked
    try:
        assert isinstance(parsed(form, answer), form)
    except Malformed as error:
        assert str(error).strip()


ARGUMENTS = {
    tool["function"]["name"]: dict.fromkeys(tool["function"]["parameters"]["properties"], "1") for tool in TOOLS
}


@tried(200)
@given(st.sampled_from(list(ARGUMENTS)).flatmap(lambda name: st.tuples(st.just(name), written(ARGUMENTS[name]))))
def test_arguments_are_of_the_types_that_were_asked_for_or_refused_in_words(called) -> None:
    name, arguments = called
    try:
        found = arguments_of(ToolCall(id="c1", name=name, arguments=arguments))
    except ToolError as error:
        assert str(error).strip()
    else:
        assert set(found) == set(ARGUMENTS[name])
        # What a database takes.
        for value in found.values():
            assert "\x00" not in value if isinstance(value, str) else abs(value) < 2**63
