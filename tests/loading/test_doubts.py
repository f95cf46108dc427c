"""What a load warns about, and what it refuses since no single row shows it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.loading.batches import Batch
from masthead.loading.cleaning import BadCell
from masthead.loading.doubts import _DAY, SHOWN_MAX, Doubts
from masthead.loading.load import load
from tests.loading.workbooks import workbook
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.loading.publisher import Publisher


SEVERAL = "holds several addresses: the reader is found by none of them"


def warnings(
    table: str, *batches: dict[str, Sequence[str | None]], is_cleaned: bool = True
) -> list[str]:
    """Return the warnings of a file whose rows begin in line 2."""
    doubts = Doubts("x.csv", lambda _part, name: name, is_cleaned=is_cleaned)
    line = 2
    for batch in batches:
        count = len(next(iter(batch.values())))
        lines = range(line, line + count)
        doubts.look(0, TABLES_BY_NAME[table], Batch([*batch], lines, [*batch.values()], (), 0))
        line += count
    return list(doubts.warnings())


def test_an_address_that_finds_no_reader_is_a_warning_with_its_line() -> None:
    """rules, "Warnings of a load"."""
    emails = ["a@e.org", None, "b@e.org; c@e.org", "", "none", "d@e.org,e@e.org", "f@e"]
    assert warnings("subscribers", {"email": emails}) == [
        f"x.csv:4: email: 'b@e.org; c@e.org' {SEVERAL} (2 rows)",
        "x.csv:6: email: 'none' is no email address (2 rows)",
    ]
    assert warnings("subscribers", {"email": ["a@e.org", "", BadCell("#REF!", "x")]}) == []


def test_a_name_that_has_lost_a_letter_is_a_warning() -> None:
    """rules, "Warnings of a load"."""
    lost, web = warnings(
        "subscribers",
        {"first_name": ["Who?", "J?rg", "M\ufffdller", "A & B"], "last_name": ["A", "B", "C", "D"]},
        {"first_name": ["G&ouml;tz", "Ann"]},
    )
    assert lost.startswith("x.csv:3: first_name: 'J?rg' has lost a letter")
    assert web.startswith("x.csv:6: first_name: 'G&ouml;tz' has signs of a web page")


def test_a_house_number_that_became_a_date_is_a_warning() -> None:
    """rules, "Warnings of a load"."""
    streets = ["Elm 3-4", "Elm 2026-04-03", "Elm 03-Apr", "Elm 04. Mrz", "Straße des 17. Juni"]
    streets += ["Platz des 1. Mai", "12-14 May Street"]
    (found,) = warnings("addresses", {"address": streets})
    assert found == f"x.csv:3: address: 'Elm 2026-04-03' {_DAY} (3 rows)"


def test_postal_codes_without_their_zeros_are_a_warning_within_a_country() -> None:
    """rules, "Warnings of a load"."""
    codes = ["4530", "10115", "20095", "1010"]
    found = warnings("addresses", {"zip_code": codes, "country_name": ["DE", "DE", "DE", "AT"]})
    assert " ".join(found) == (
        "x.csv:2: zip_code: '4530' has 4 digits, and 2 others of the country have 5: a program may "
        "have taken the zero away"
    )
    assert len(warnings("addresses", {"zip_code": codes[:3]})) == 1
    assert warnings("addresses", {"zip_code": [*codes, "04530"]}) == []
    assert warnings("addresses", {"zip_code": codes, "country_name": [*"ABCD"]}) == []
    more, countries = ["1010", "1020", *codes[:3]], ["AT", "AT", "", "", ""]
    (blank,) = warnings("addresses", {"zip_code": more, "country_name": countries})
    assert blank.startswith("x.csv:4:")


def test_titles_that_differ_only_in_capitals_or_signs_are_a_warning() -> None:
    """rules, "Warnings of a load": readers of the second one would not get the first."""
    (found,) = warnings("publications", {"name": ["Tide", "Gale", "Tide"]}, {"name": ["tide", ""]})
    assert found.startswith("x.csv:5: name: 'tide' is another publication than 'Tide' in line 2")
    assert warnings("publications", {"name": ["Tide", "tide"]}, is_cleaned=False) == []
    assert warnings("publications", {"name": ["?", "!", "Tide", "Tides"]}) == []


def expiries(*columns: Sequence[str | None]) -> list[str]:
    """Return the warnings of subscriptions, of which each batch has one of the columns."""
    return warnings("subscriptions", *[{"date_expired": cells} for cells in columns])


def test_days_and_months_that_a_spreadsheet_has_swapped_are_refused() -> None:
    """rules, "Warnings of a load": no row shows which dates are wrong."""
    dates: tuple[list[str | None], ...]
    dates = ["2026-05-06", "", "2026-02-01 00:00:00"], ["31.12.2026", None, "13/01/2027"]
    for days in (dates, dates[::-1]):
        with pytest.raises(BadInput, match="a spreadsheet has swapped days and months") as refused:
            expiries(*days)
        assert "'2026-05-06'" in str(refused.value)
        assert "'31.12.2026' in line" in str(refused.value)
    for other in ("2026-05-13", "05.06.2026"):
        (line,) = expiries([other], *dates)
        assert "check that days and months are right" in line
    assert "check that days" in expiries(["2026-05-01", "2026-06-01", "31.12.2099"])[0]
    assert expiries(["31.12.2026", "01.02.2026"]) == []
    assert expiries(["2026-12-01", "2026-02-01"]) == []


def test_there_are_only_so_many_warnings_of_a_file() -> None:
    doubts = Doubts("x.csv", lambda part, name: f"{part}.{name}", is_cleaned=True)
    for part in range(SHOWN_MAX + 5):
        doubts.look(part, TABLES_BY_NAME["subscribers"], Batch(["email"], [2], [["x"]], (), 0))
    found = list(doubts.warnings())
    assert len(found) == SHOWN_MAX + 1
    assert found[-1] == "x.csv: and 5 more warnings"


CELLS = st.none() | st.sampled_from(
    ["2026-05-06", "31.12.2026", "Orr ", "a@e.org", "4530", "04530"]
)


@examples(30, 1_000)
@given(cells=st.lists(CELLS | st.text(), max_size=5), table=st.sampled_from([*TABLES_BY_NAME]))
def test_whatever_cells_there_are_they_are_doubted_or_not(
    cells: list[str | None], table: str
) -> None:
    names = [column.name for column in TABLES_BY_NAME[table].columns]
    try:
        found = warnings(table, dict.fromkeys(names, cells), is_cleaned=False)
    except BadInput as refusal:
        found = [str(refusal)]
    assert all(line.startswith("x.csv") for line in found)


def test_a_plain_file_is_loaded_as_it_is_with_warnings(publisher: Publisher) -> None:
    """rules, "Warnings of a load": what was exported is loaded unchanged."""
    folder = publisher.write(
        {
            "subscribers.csv": (
                "subscriber_id,email,last_name,renewal_code\n"
                "1,a@e.org ,Orr\u00a0,#N/A\n2,b@e.org,Zoe\u0308,7.0\n"
            ),
            "orders.xlsx": workbook(
                [("order_id", "subscriber_id", "order_date"), (1, 1, date(2026, 5, 6))]
            ),
        }
    )
    notes: list[str] = []
    load(publisher.store, [folder], account_id=publisher.account_id, note=notes.append)
    assert [row["last_name"] for row in publisher.table("subscribers")] == [
        "Orr\u00a0",
        "Zoe\u0308",
    ]
    places = [
        "email: 'a@e.org '",
        "last_name: 'Orr\\xa0'",
        "last_name: 'Zoe",
        "renewal_code: '#N/A'",
        "renewal_code: '7.0'",
    ]
    kinds = [
        "has spaces or signs",
        "has spaces or signs",
        "as two characters",
        "is no value: the",
        "has spaces",
    ]
    for place, kind in zip(places, kinds, strict=True):
        (note,) = (note for note in notes if place in note)
        assert kind in note
