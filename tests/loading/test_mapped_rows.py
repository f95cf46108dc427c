"""Mapped files hold what plain files do; no bytes and no mapping do any harm."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.errors import BadInput, MastheadError
from masthead.loading.mapping_toml import parse_mapping
from tests.loading.mapped import FLAT, FLAT_MAPPING, load_mapped, natural_keys
from tests.loading.records import publishers
from tests.loading.rewritten import Style, mapping_of, rewrite, write
from tests.long import ONLY_LONG, examples

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.loading.publisher import Publisher

STYLES = st.builds(
    Style,
    separator=st.sampled_from([";", "\t", "|", ","]),
    dates=st.sampled_from(["DD.MM.YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYYMMDD", "YYYY-DD-MM"]),
    decimal=st.sampled_from([",", "."]),
    yes=st.sampled_from(["ja", "X", "oui"]),
    no=st.sampled_from(["nein", "-", "non"]),
    keys=st.just(value=False),
)


def rewritten(exported: Mapping[str, bytes], style: Style) -> dict[str, str]:
    """Return exported files as another system has them."""
    files = {}
    for name, content in exported.items():
        table = name.removesuffix(".csv")
        if table in TABLES_BY_NAME:
            out = io.StringIO(newline="")
            rows = csv.reader(io.StringIO(content.decode(), newline=""))
            write(rewrite(rows, table, style), out, style)
            files[f"Quelle {name}"] = out.getvalue()
    return files


@ONLY_LONG
@examples(10, 500)
@given(files=publishers(is_clean=True), style=STYLES)
def test_exported_rewritten_and_mapped_back_all_rows_are_the_same(
    new_publisher: Callable[[], Publisher], files: dict[str, str], style: Style
) -> None:
    """rules, "Values of mapped files"."""
    plain, mapped = new_publisher(), new_publisher()
    plain.load(files)
    load_mapped(mapped, rewritten(plain.exported(), style), mapping_of(style))
    assert mapped.everything() == plain.everything()


_KEYS = "key of when column constant values default dates first join scale day only except A"
KEYS = st.sampled_from(_KEYS.split())
_SETTINGS = "dates decimal yes no ignore empty separator header skip_last split only except each"
SETTING_NAMES = st.sampled_from(_SETTINGS.split())
FORMS = st.sampled_from(["column", "first", "join", "key"])
BESIDE = st.sampled_from(["values", "default", "dates", "day", "scale", "when", "of"])
TOML_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        [
            '"A"',
            '"B"',
            '""',
            "1",
            "true",
            "1.5",
            "2025-01-01",
            "[]",
            '["A"]',
            "{}",
            "0.01",
            '"{A} {B}"',
            "nan",
        ]
    ),
    lambda inner: (
        st.builds(
            "{{ {} = {} }}".format,
            KEYS,
            inner,
        )
        | st.builds("{{ {} = {}, {} = {} }}".format, FORMS, inner, BESIDE, inner)
        | st.builds("[{}, {}]".format, inner, inner)
    ),
    max_leaves=4,
)
SOURCES = [
    '"A"',
    '"B"',
    '"p"',
    '{ key = ["A", "B"] }',
    '{ key = ["A", { constant = "x" }], when = ["B"] }',
    '{ first = ["A", "B"] }',
    '{ first = [{ key = ["A"], when = ["B"] }, { key = ["p"] }] }',
    '{ join = "{A} {B}" }',
    '{ column = "B", scale = 0.01 }',
    '{ column = "B", values = { "1*" = 2, "*" = "*" } }',
    '{ column = "B", dates = ["D.M.YYYY", "MMM YY"], day = "last" }',
]
SETTINGS = [
    '"."',
    '","',
    '"DD.MM.YYYY"',
    '["A"]',
    '["", "C"]',
    "1",
    "2",
    "[1, 2]",
    "-1",
    '{ A = "{p} {q}" }',
    '{ C = ["{A}"] }',
    '{ A = ["1*", ""] }',
    '"B*"',
    '"A.*.B"',
    '{ column = "B", between = "," }',
]
NAMES = st.sampled_from([column.name for table in TABLES for column in table.columns])


@st.composite
def almost_mappings(draw: st.DrawFn) -> str:
    """A mapping whose parts often do not fit."""
    lines = ["[[files]]", 'name = "x*"']
    lines += draw(
        st.lists(
            st.builds(
                "{} = {}".format,
                SETTING_NAMES,
                st.sampled_from(SETTINGS),
            ),
            max_size=3,
            unique_by=lambda line: line.split(" = ")[0],
        )
    )
    for table in draw(
        st.lists(st.sampled_from(TABLES), min_size=1, max_size=2, unique_by=lambda t: t.name)
    ):
        is_list = draw(st.booleans())
        lines.append(
            f"[[files.tables.{table.name}]]" if is_list else f"[files.tables.{table.name}]"
        )
        names = {*table.key, *draw(st.sets(NAMES, max_size=3))}
        lines += [
            f"{name} = " + draw(st.sampled_from(SOURCES) | TOML_VALUES) for name in sorted(names)
        ]
    return "\n".join(lines) + "\n"


CELLS = st.sampled_from(["1", "2", "", " 3", "x", "1,5", "31.12.2025", "ja", "\x00", "\u2028"])
RECORDS = st.dictionaries(
    st.sampled_from(["A", "B", "C", "A.B"]),
    st.recursive(
        st.sampled_from([None, 1, "x", "31.12.2025", "1, 2", True, 1.5]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("AB"), inner),
        max_leaves=5,
    ),
)
CONTENTS = (
    st.builds(
        lambda records: "".join(json.dumps(record) + "\n" for record in records).encode(),
        st.lists(RECORDS, max_size=3),
    )
    | st.builds(
        lambda rows: ("A,B,C\n" + "".join(f"{','.join(row)}\n" for row in rows)).encode(),
        st.lists(st.lists(CELLS, min_size=2, max_size=3), max_size=4),
    )
    | st.binary(max_size=60)
)


@examples(60, 1_000)
@given(
    mapping=almost_mappings() | st.text(max_size=40),
    content=CONTENTS,
    ending=st.sampled_from([".csv", ".csv", ".ndjson", ".xlsx", ".csv.gz"]),
)
@example(
    mapping=FLAT_MAPPING.replace("Abonnenten", "x"), content=FLAT.encode("utf-16"), ending=".csv"
)
@example(
    mapping='[[files]]\nname="x*"\n[files.tables.subscribers]\nsubscriber_id={key=["A"]}\n',
    content=b'{"A": "\\ud800\\u0000"}\n',
    ending=".ndjson",
)
def test_a_load_of_any_file_with_any_mapping_succeeds_or_explains_its_refusal(
    small: Publisher, mapping: str, content: bytes, ending: str
) -> None:
    before = small.everything(), natural_keys(small)
    sentence = ""
    try:
        load_mapped(small, {f"x{ending}": content}, mapping)
    except MastheadError as refusal:
        sentence = str(refusal)
    if sentence:
        assert f"x{ending}" in sentence or "publisher.toml" in sentence
        assert (small.everything(), natural_keys(small)) == before
    else:
        after = small.everything()
        assert all(len(after[table]) >= len(before[0][table]) for table in after)


@examples(100, 1_500)
@given(raw=st.binary(max_size=200) | almost_mappings().map(str.encode))
def test_any_bytes_are_a_mapping_or_are_told_why_not(raw: bytes) -> None:
    sentences = []
    try:
        parse_mapping(raw, "publisher.toml")
    except BadInput as refusal:
        sentences = str(refusal).split("\npublisher.toml: ")
    assert all(sentences)
    assert not sentences or sentences[0].startswith("publisher.toml: ")
