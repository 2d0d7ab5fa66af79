"""Reports as JSON."""

import json

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import report_corpus as corpus
from golden_files import check_golden
from graphlens.errors import ReportFormatError
from graphlens.model import (
    Environment,
    Frame,
    Graph,
    GraphBreak,
    Node,
    Note,
    Recompile,
    Report,
    Unavailable,
    from_json,
    to_json,
)
from graphlens.renderers.jsonfile import JsonRenderer


def test_json():
    check_golden("report.json", JsonRenderer().report(corpus.unknown()))


@pytest.mark.parametrize("name", ["empty", "unknown", "typical", "large"])
def test_round_trip_of_the_corpus(name):
    report = corpus.CORPUS[name]()
    assert from_json(JsonRenderer().report(report).encode()) == report


def test_a_graph_is_the_part_of_its_report():
    graph = corpus.toy_graph()
    text = JsonRenderer().graph(graph)
    assert msgspec.json.decode(text, type=Graph) == graph
    whole = json.loads(JsonRenderer().report(corpus.unknown()))
    assert json.loads(text) == whole["graphs"][0]


# Text as a file name or source line may hold it; a lone surrogate is no JSON.
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def _value(kind: msgspec.inspect.Type) -> st.SearchStrategy:
    """A strategy for any value that a field of the report data may have."""
    match kind:
        case msgspec.inspect.StructType(cls=cls):
            return _struct(cls)
        case msgspec.inspect.UnionType(types=types):
            return st.one_of([_value(one) for one in types])
        case msgspec.inspect.VarTupleType(item_type=item):
            return st.lists(_value(item), max_size=2).map(tuple)
        case msgspec.inspect.TupleType(item_types=items):
            return st.tuples(*map(_value, items))
        case msgspec.inspect.StrType():
            return _TEXT
        case msgspec.inspect.BytesType():
            return st.binary(max_size=12)
        case msgspec.inspect.BoolType():
            return st.booleans()
        case msgspec.inspect.IntType():
            return st.integers(-(2**63), 2**63 - 1)
        case msgspec.inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
        case msgspec.inspect.NoneType():
            return st.none()
    raise AssertionError(f"the strategy does not know {kind}")


def _struct(cls: type) -> st.SearchStrategy:
    fields = msgspec.inspect.type_info(cls).fields
    # The schema's name is checked when it is read, so only the right one round-trips.
    return st.builds(cls, **{f.name: _value(f.type) for f in fields if f.name != "schema"})


_SIZES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("cls", [Node, Graph, Frame, GraphBreak, Recompile, Note, Environment])
def test_any_part_round_trips(cls):
    @settings(_SIZES, max_examples=25)
    @given(_struct(cls))
    def check(value):
        assert msgspec.json.decode(msgspec.json.encode(value), type=cls) == value

    check()


@_SIZES
@given(_struct(Report))
def test_any_report_round_trips(report):
    data = to_json(report)
    assert from_json(data) == report
    assert to_json(from_json(data)) == data


@given(st.one_of(st.binary(max_size=20), st.from_type(int).map(lambda n: json.dumps(n).encode())))
def test_what_is_no_report_is_refused_in_words(data):
    with pytest.raises(ReportFormatError, match=r"x\.json"):
        from_json(data, "x.json")


def test_unavailable_keeps_its_reason():
    report = from_json(to_json(corpus.unknown()))
    assert isinstance(report.breaks, Unavailable)
    assert "doctor" in report.breaks.reason
