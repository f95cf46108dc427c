"""Files of qualifications: what is added once, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import qualification_files
from masthead.circulation.qualifying import Answer, answers_of
from masthead.errors import BadInput
from masthead.loading.qualification_files import (
    problems_of,
    read_mapping,
    read_qualifications,
)
from masthead.store.erasing import erase
from tests.circulation.shop import run as program
from tests.qualification.press import CHIEF, ENGINEER, INDUSTRY, STEEL, qualify, said

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.books.qualification_files import Imported
    from tests.circulation.desk import Desk

FILE = """\
external_reference,subscriber_id,email,first_name,last_name,qualified_on,request_type,job,\
industry,evidence_call
c-1,1,,,,2026-03-01,telephone,chief,steel|Glass,7
,,dora@example.org,Dora,Dunn,2026-03-02,web,engineer,,
c-3,,,Emil,Ernst,2026-03-03,company,student,,
"""
THEIRS = """\
Nr;Tag;E-Mail;Vorname;Nachname;Position;Branche;Anmerkung
17;31.03.2026;dora@example.org;Dora;Dunn;CEO;steel, Glass;egal
"""
MAPPING = """\
dates = "DD.MM.YYYY"
request_type = "company"
taken_by = "The fair"
separator = ","
[columns]
external_reference = "Nr"
qualified_on = "Tag"
email = "E-Mail"
first_name = "Vorname"
last_name = "Nachname"
job = "Position"
industry = "Branche"
[values.job]
CEO = "chief"
"""


def load(desk: Desk, folder: Path, text: str, mapping: str | None = None) -> Imported:
    """Add the qualifications of a file."""
    (folder / "said.csv").write_text(text, encoding="utf-8")
    (folder / "said.toml").write_text(mapping or "", encoding="utf-8")
    found = read_mapping(folder / "said.toml") if mapping else None
    rows = read_qualifications(folder / "said.csv", found)
    try:
        return qualification_files.import_rows(desk.books, 1, rows, described_max=1)
    except qualification_files.RefusedRows as error:
        raise problems_of(folder / "said.csv", error.refused) from error


def test_the_same_file_again_changes_nothing(press: Desk, tmp_path: Path) -> None:
    """decisions, "Qualifications from files": each row is known by its reference, or by itself."""
    done = load(press, tmp_path, FILE)
    assert done.sentence == ("publication 1 (Forge): 3 qualifications were added, of 2 new readers")
    stored = press.table("qualifications")
    assert [row["external_reference"] for row in stored] == ["c-1", None, "c-3"]
    assert stored[0]["evidence"] == '{"call": "7"}'
    assert [row["audit_classification"] for row in press.table("subscriptions")] == [
        "chief",
        "unclassified",
        "unclassified",
    ]
    before = press.everything()
    again = load(press, tmp_path, FILE)
    assert again.sentence == (
        "publication 1 (Forge): nothing changed: 3 qualifications were there already"
    )
    assert press.everything() == before


def test_new_readers_who_look_like_existing_ones_are_named(press: Desk, tmp_path: Path) -> None:
    """circulation, "Who is who": they are added, and a person sees whom they look like."""
    text = (
        "external_reference,email,first_name,last_name,address,city,qualified_on,request_type,"
        "job\n"
        "c-1,ada@new.example,Ada,Ames,9 Row,Cork,2026-03-01,web,chief\n"
        "c-2,,Ben,Ames,9 Row,Cork,2026-03-01,web,chief\n"
        "c-3,ada@new.example,Ada,Ames,9 Row,Cork,2026-03-02,web,chief\n"
    )
    path = tmp_path / "fair.csv"
    path.write_text(text, encoding="utf-8")
    printed = program(press.url, "qualification", "import", "1", path, "--dry-run")
    assert "3 qualifications were added, of 2 new readers" in printed[0]
    like = "fair.csv:{}: last_name: {} looks like subscriber {}, {}, {} Oak, Cork: no subscription"
    assert printed[1:-1] == [
        "new readers who look like existing ones: 2",
        like.format(2, "Ada Ames", 1, "Ada Ames", 1) + " (same name and city)",
        like.format(3, "Ben Ames", 2, "Ben Ames", 2) + " (same name and city)",
    ]
    done = load(press, tmp_path, text)
    assert [(line, bool(each.resembling[0].line)) for line, each in done.newcomers] == [
        (2, True),
        (3, False),
    ]
    assert load(press, tmp_path, text).newcomers == []


def test_one_row_that_stands_twice_is_added_once(press: Desk, tmp_path: Path) -> None:
    header, _, row, _ = FILE.splitlines()
    done = load(press, tmp_path, f"{header}\n{row}\n{row}\n")
    assert (done.added, done.unchanged, done.readers) == (1, 1, 1)


def test_a_file_that_comes_late_does_not_change_what_counts(press: Desk, tmp_path: Path) -> None:
    """decisions, "The newest qualification": the day of the answer wins, not that of the load."""
    qualify(press, 1, "2026-04-10", said(ENGINEER))
    shown = press.subscription(1)
    done = load(press, tmp_path, FILE)
    assert done.sentence.endswith("; for 1 of them a later one counts")
    assert press.subscription(1) == shown


def test_copies_go_to_the_address_of_a_file(press: Desk, tmp_path: Path) -> None:
    """decisions, "Qualifications from files": unless a later qualification counts."""
    qualify(press, 1, "2026-03-02", said(CHIEF))
    header = "subscriber_id,qualified_on,request_type,job,address,city,country_name\n"
    load(
        press,
        tmp_path,
        f"{header}1,2026-04-10,web,chief,9 Row,Hull,GB\n2,2026-04-10,web,chief,,,\n",
    )
    assert [row["mailing_address_id"] for row in press.table("subscriptions")] == [4, 2]
    load(
        press,
        tmp_path,
        f"{header}1,2026-04-09,web,chief,7 Old,Hull,GB\n3,2026-04-10,web,chief,5 End,Hull,GB\n",
    )
    assert [row["mailing_address_id"] for row in press.table("subscriptions")] == [4, 2, 6]
    assert press.subscription(1)["billing_address_id"] == 1


def test_a_file_of_others_is_read_by_a_mapping(press: Desk, tmp_path: Path) -> None:
    done = load(press, tmp_path, THEIRS, MAPPING)
    assert (done.added, done.readers) == (1, 1)
    (stored,) = press.table("qualifications")
    names = ("qualified_on", "request_type", "taken_by", "answers", "external_reference")
    assert [stored[each] for each in names] == [
        "2026-03-31",
        "company",
        "The fair",
        '{"1":{"options":[11],"text":""},"2":{"options":[21],"text":"Glass"}}',
        "17",
    ]
    assert load(press, tmp_path, THEIRS, MAPPING).added == 0


def test_a_mapping_translates_each_answer_once(press: Desk, tmp_path: Path) -> None:
    """decisions, "Qualifications from files": a list of codes may swap or shift them."""
    swapped = MAPPING.replace('CEO = "chief"', 'CEO = "chief"\nchief = "engineer"')
    rows = THEIRS.replace("CEO;steel, Glass", "CEO;") + "18;31.03.2026;e@x.org;Eva;Dunn;chief;;\n"
    load(press, tmp_path, rows, swapped)
    assert [row["answers"] for row in press.table("qualifications")] == [
        f'{{"1":{{"options":[{option}],"text":""}}}}' for option in (CHIEF, ENGINEER)
    ]


def test_only_a_question_that_takes_several_answers_splits_a_cell(
    press: Desk, tmp_path: Path
) -> None:
    """decisions, "Qualifications from files": an answer in words is kept as it was written."""
    press.rows("UPDATE custom_fields SET type = 'textarea' WHERE field_id = 3 RETURNING 1")
    header = "subscriber_id,qualified_on,request_type,job,industry,size\n"
    load(press, tmp_path, f"{header}1,2026-03-01,web,chief,steel|Glass,a | b\n")
    (stored,) = press.table("qualifications")
    assert stored["answers"] == (
        '{"1":{"options":[11],"text":""},"2":{"options":[21],"text":"Glass"},'
        '"3":{"options":[],"text":"a | b"}}'
    )
    with pytest.raises(BadInput, match=r"job has no option 'chief\|engineer'"):
        load(press, tmp_path, f"{header}2,2026-03-01,web,chief|engineer,,\n")


def test_several_answers_in_words_are_one_line(press: Desk, tmp_path: Path) -> None:
    """The field of other words has one line, in which a browser leaves out line breaks."""
    load(press, tmp_path, FILE.replace("steel|Glass", "steel|Glass|Rope"))
    (first, *_) = [answers_of(row["answers"]) for row in press.table("qualifications")]
    assert first[INDUSTRY] == Answer((STEEL,), "Glass, Rope")


def test_a_field_with_the_name_of_a_column_has_a_column_of_its_own(
    press: Desk, tmp_path: Path
) -> None:
    """decisions, "Qualifications from files": ``answer_`` stands before its name."""
    press.rows("UPDATE custom_fields SET name = 'type' WHERE field_id = 1 RETURNING 1")
    row = "1,2026-03-01,web,chief,Digital\n"
    load(press, tmp_path, f"subscriber_id,qualified_on,request_type,answer_type,type\n{row}")
    assert [row["answers"] for row in press.table("qualifications")] == [
        '{"1":{"options":[11],"text":""}}'
    ]
    assert press.subscription(1)["type"] == "Digital"
    mapping = MAPPING.replace("job = ", "answer_type = ").replace(
        "values.job", "values.answer_type"
    )
    load(press, tmp_path, THEIRS, mapping)
    assert [row["audit_classification"] for row in press.table("subscriptions")] == ["chief"] * 2


def test_the_same_file_does_not_bring_back_an_erased_reader(press: Desk, tmp_path: Path) -> None:
    """decisions, "Qualifications from files": a row is known by its reference, or by the reader."""
    header = FILE.splitlines()[0]
    of_reference = "W-7,,zoe@example.org,Zoe,Ames,2026-03-01,web,chief,,\n"
    of_id = ",1,,,,2026-03-01,web,chief,,\n"
    load(press, tmp_path, f"{header}\n{of_reference}{of_id}")
    for reader in (1, 4):
        erase(press.store, 1, reader, leave_traces=True)
    before = press.everything()
    more = ",2,,,,2026-03-01,web,chief,,\n"
    done = load(press, tmp_path, f"{header}\n{of_reference}{of_id}")
    assert (done.added, done.unchanged) == (0, 2)
    assert press.everything() == before
    assert load(press, tmp_path, f"{header}\n{of_reference}{of_id}{more}").added == 1


def test_a_reference_is_known_again_without_its_line_break(press: Desk, tmp_path: Path) -> None:
    header = FILE.splitlines()[0]
    row = '"c\n7",1,,,,2026-03-01,web,chief,,\n'
    assert load(press, tmp_path, f"{header}\n{row}").added == 1
    assert load(press, tmp_path, f"{header}\n{row}").unchanged == 1


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (
            ",9,,,,2026-03-01,web,chief,,",
            "said.csv:2: subscriber_id: account 1 has no subscriber 9",
        ),
        (",1,,,,2026-03-01,fax,chief,,", "said.csv:2: request_type: 'fax' is not a request type"),
        (",1,,,,2026-04-16,web,chief,,", "said.csv:2: qualified_on: 2026-04-16 is still to come"),
        (",1,,,,,web,chief,,", "said.csv:2: qualified_on: '' is not a day"),
        (",1,,,,2026-03-01,web,king,,", "said.csv:2: answers: job has no option 'king'"),
        (",1,,,,2026-03-01,web,,,", "said.csv:2: answers: job: it has to be answered"),
        (",,,Emil,Ernst,2026-03-01,web,chief,,", "said.csv:2: email: name the reader by id"),
        ("c-1,1,,,,2026-03-01,web,chief,,", "said.csv:2: external_reference: 'c-1' was loaded"),
        (",x,,,,2026-03-01,web,chief,,", "said.csv:2: subscriber_id: "),
    ],
)
def test_a_row_that_is_refused_is_named_by_its_line(
    press: Desk, tmp_path: Path, row: str, why: str
) -> None:
    load(press, tmp_path, FILE)
    before = press.everything()
    header = FILE.splitlines()[0]
    with pytest.raises(BadInput) as found:
        load(press, tmp_path, f"{header}\n{row}\n")
    assert why in str(found.value)
    assert press.everything() == before


def test_all_rows_are_added_or_none(press: Desk, tmp_path: Path) -> None:
    before = press.everything()
    row = ",9,,,,2026-03-01,web,chief,,\n"
    with pytest.raises(BadInput, match=r"said\.csv:5: .*\n.*said\.csv:6: "):
        load(press, tmp_path, f"{FILE}{row}{row}")
    assert press.everything() == before


@pytest.mark.parametrize(
    ("mapping", "why"),
    [
        ("dates = 7", "said.toml: "),
        (f"dates = {'[' * 5_000}", "said.toml: is not a TOML file in UTF-8"),
        ("[columns]\nsize = 'Size'", "said.csv:1: Size: missing: size comes from it"),
        ("columns = {}", "said.toml: it names no columns"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(
    press: Desk, tmp_path: Path, mapping: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        load(press, tmp_path, FILE, mapping)


def test_a_file_that_there_is_not_is_refused(press: Desk, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        read_qualifications(tmp_path / "none.csv")
    (tmp_path / "said.csv").touch()
    with pytest.raises(BadInput, match=r"said\.csv is empty: its first line should"):
        read_qualifications(tmp_path / "said.csv")
    (tmp_path / "said.ndjson").touch()
    assert read_qualifications(tmp_path / "said.ndjson") == []
    assert press.table("qualifications") == []


def test_the_command_says_what_a_file_would_add(press: Desk, tmp_path: Path) -> None:
    qualify(press, 1, "2026-04-10", said(CHIEF))
    (tmp_path / "theirs.csv").write_text(THEIRS, encoding="utf-8")
    (tmp_path / "theirs.toml").write_text(MAPPING, encoding="utf-8")
    words = ("qualification", "import", "1", tmp_path / "theirs.csv")
    printed = program(press.url, *words, f"--map={tmp_path / 'theirs.toml'}", "--dry-run")
    assert printed == [
        "publication 1 (Forge): 1 qualification was added, of 1 new reader",
        "nothing was changed: this was a dry run",
    ]
