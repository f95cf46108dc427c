"""Templates join columns and split cells; names of months; words with ``*``."""

from __future__ import annotations

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.loading.month_names import month_of
from masthead.loading.templates import Split, join_of
from masthead.loading.words import fits, replacements_of, words_of
from tests.docs.pages import ROOT
from tests.long import examples


@pytest.mark.parametrize(
    ("template", "text", "parts"),
    [
        ("{last}, {first}", "Doe, Jane", ("Doe", "Jane")),
        ("{last}, {first}", "  Doe ,Jane ", ("Doe", "Jane")),
        ("{last}, {first}", "Doe", None),
        ("{last}, {first}", ", Jane", None),
        ("{first} {last:word}", "Jane Mary Doe", ("Jane Mary", "Doe")),
        ("{first:word} {last}", "Jane Mary Doe", ("Jane", "Mary Doe")),
        ("{first} & {other} {last:word}", "Jane & John Doe", ("Jane", "John", "Doe")),
        ("{first} und {other}", "Gundula UND Jo", ("Gundula", "Jo")),
        ("{street} {number:number}", "Str. des 17. Juni 5 a", ("Str. des 17. Juni", "5 a")),
        ("{street} {number:number}", "Hauptstr. 12-14b", ("Hauptstr.", "12-14b")),
        ("{street} {number:number}", "rue du Port 5 bis", ("rue du Port", "5 bis")),
        ("{zip:digits} {city}", "04530 Bad Berka", ("04530", "Bad Berka")),
        (
            "{street}, {city:no-comma}, {state:word} {zip:digits}",
            "1 Elm St, Apt 4, Bath, ME 04530",
            ("1 Elm St, Apt 4", "Bath", "ME", "04530"),
        ),
        ("{mail:word}; {others}", "a@e.org;b@e.org; c@e.org", ("a@e.org", "b@e.org; c@e.org")),
        ("Issue {number:digits}", "issue 214", ("214",)),
        ("Issue {number:digits}", "Issue two", None),
        ("{name} ({code})", "Doe (D-1)", ("Doe", "D-1")),
        ("{{{a}}}", "{x}", ("x",)),
    ],
)
def test_a_template_splits_a_cell(template: str, text: str, parts: tuple[str, ...] | None) -> None:
    """docs/mapping.md, "Splits"."""
    assert Split(template).parts(text) == parts


def test_a_cell_that_can_be_split_in_two_ways_is_refused_with_both() -> None:
    with pytest.raises(ValueError, match=r"in two ways, 'Jane' [+] 'Mary Doe' and 'Jane Mary'"):
        Split("{first} {last}").parts("Jane Mary Doe")


@pytest.mark.parametrize(
    "text", ["a, " * 300, ", " * 2_000, "a" * 1_000_000, " ".join("1" * 39), ",1, " * 39]
)
@pytest.mark.parametrize("template", ["{a}, {b}, {c}, {d}, {e}, {f}, {g}", "{a} {b} {c} {d:word}"])
def test_no_cell_makes_splitting_slow(template: str, text: str) -> None:
    """decisions, "What a mapping can say": a hostile cell is refused, or split in a few steps."""
    try:
        Split(template).parts(text)
    except ValueError as refused:
        assert "too long" in str(refused) or "two ways" in str(refused)  # noqa: PT017


SPLITS = re.compile(r"^\| `(.+ = .+?)` \| (.+?)(?:; then .*)? \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "mapping.md").read_text()


def test_the_cells_that_the_page_shows_fit_their_templates() -> None:
    """docs/mapping.md, "Splits"."""
    section = PAGE.split("### Splits")[1].split("\n###")[0]
    rows = SPLITS.findall(section)
    assert len(rows) == 6
    for toml, shown in rows:
        (templates,) = tomllib.loads(toml).values()
        splits = [
            Split(each) for each in ([templates] if isinstance(templates, str) else templates)
        ]
        for cell in re.findall(r"`(.+?)`", shown):
            assert any(split.parts(cell) for split in splits), (cell, templates)


WORDS = st.text("abcé", min_size=1, max_size=5)


@examples(100, 2_000)
@given(st.lists(WORDS, min_size=2, max_size=6), st.data())
def test_what_a_template_joins_it_splits_again(cells: list[str], data: st.DataObject) -> None:
    signs = [data.draw(st.sampled_from([", ", " & ", " - ", "; ", "/", " "])) for _ in cells[1:]]
    template = "{0}" + "".join(f"{sign}{{{n}}}" for n, sign in enumerate(signs, 1))
    try:
        assert Split(template).parts(join_of(template).text(cells)) == tuple(cells)
    except ValueError as refused:
        assert "in two ways" in str(refused)  # noqa: PT017 - a space stands beside the other signs


@examples(200, 3_000)
@given(st.text(), st.text("ab ,;&12{}:", max_size=12))
def test_any_template_splits_any_text_or_says_why_not(text: str, template: str) -> None:
    try:
        split = Split(template)
        join = join_of(template)
    except ValueError as refused:
        assert str(refused).startswith("has ")  # noqa: PT017
        return
    parts = None
    try:
        parts = split.parts(text)
    except ValueError as refused:
        assert str(refused)  # noqa: PT017
    if parts is not None:
        assert len(parts) == len(split.names)
        assert all(parts)
    assert join.text([""] * len(join.names)) == ""


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (("Hauptstr.", "5a", "Hinterhaus"), "Hauptstr. 5a, Hinterhaus"),
        (("Hauptstr.", "", "Hinterhaus"), "Hauptstr., Hinterhaus"),
        (("Hauptstr.", "5a", ""), "Hauptstr. 5a"),
        (("", "5a", ""), "5a"),
        (("", "", "Hinterhaus"), "Hinterhaus"),
        (("", "", ""), ""),
    ],
)
def test_a_join_leaves_out_the_text_before_an_empty_column(
    cells: tuple[str, ...], text: str
) -> None:
    """docs/mapping.md, "Joins"."""
    assert join_of("{street} {number}, {second}").text(cells) == text


def test_the_texts_at_the_ends_of_a_join_go_with_their_columns() -> None:
    join = join_of("c/o {care of}, {street} (Apt {apt})")
    assert join.text(("Doe", "Elm", "4")) == "c/o Doe, Elm (Apt 4)"
    assert join.text(("", "Elm", "")) == "Elm"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("street", "has no name in braces"),
        ("{street", "has a single brace"),
        ("{a}{b}", "has two parts without a sign"),
        ("{a} {a}", "has two parts of the same name"),
        ("{} {a}", "has a part without a name"),
        ("{a:wrd}", "has a part of the kind 'wrd'; there are word, digits, number, no-comma"),
        (" ".join(f"{{p{n}}}" for n in range(11)), "has 11 parts, and may have 10"),
    ],
)
def test_each_mistake_of_a_template_has_a_sentence(template: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        Split(template)


def test_months_are_known_by_name_in_ten_languages() -> None:
    """docs/mapping.md, "Values": letter case, accents and a point at the end do not count."""
    months = {
        1: "Jan january janv. Jänner gennaio gen. enero",
        2: "février FEVR. févr Feb. fev",
        3: "März Mrz mars maart mrt marzo março marts",
        5: "May Mai maggio mei maj mag.",
        6: "juin Juni jun. giugno",
        7: "juil. Juli luglio lug",
        8: "août aout ago. augustus Aug",
        10: "Okt. Oct ottobre out.",
        12: "Dez. déc. dic. Dec desember",
    }
    for month, names in months.items():
        assert {month_of(name) for name in names.split()} == {month}, names
    assert month_of("jui") is None
    assert month_of("ma") is None


def test_a_word_with_a_star_fits_any_text_there_and_exact_words_come_first() -> None:
    words = words_of(["Tide*", "Gale Print", " "])
    assert [words.has(text) for text in ("Tide Print", "Gale Print", "Gale", "tide", "")] == [
        True,
        True,
        False,
        False,
        True,
    ]
    values = replacements_of({"Digital*": "Digital", "Digital+": "Both", "*": "*"})
    assert [values.get(text) for text in ("Digital A", "Digital+", "Print")] == [
        "Digital",
        "Both",
        "Print",
    ]
    assert fits("[a?*", "[a?b")
    assert not fits("[a?*", "abb")
