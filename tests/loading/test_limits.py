"""``--max-rejected``: how many rows may be bad before nothing is loaded."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.loading.limits import Limit
from masthead.loading.load import Options, load
from tests.loading.publisher import SMALL, Publisher
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

BAD = {
    "publications.csv": "publication_id\n1\n2\n3\nx\n",
    "subscribers.ndjson": '{"subscriber_id": 1}\n\n{"subscriber_id": 2}\nnonsense\n{"x": 1}\n',
}


@given(st.integers(0, 10**18 - 1), st.integers(0, 10**18), st.integers(0, 10**18))
def test_a_number_of_rows_is_that_number(limit: int, count: int, of: int) -> None:
    assert Limit.parse(str(limit)).allows(count, of) == (count <= limit)


@given(st.integers(0, 100_000), st.integers(0, 10**12), st.integers(0, 10**12))
def test_a_share_is_exact_for_any_number_of_rows(thousandths: int, count: int, of: int) -> None:
    limit = Limit.parse(f"{thousandths // 1000}.{thousandths % 1000:03}%")
    assert limit.allows(count, of) == (Fraction(thousandths, 100_000) * of >= count)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "101%", "1%%", "%", "1 %", "٣", "1e3", "1.%"])
def test_other_texts_are_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="neither a number of rows nor a share"):
        Limit.parse(text)


def test_past_the_limit_of_one_file_nothing_is_loaded_and_the_bad_rows_are_written(
    small: Publisher, tmp_path: Path
) -> None:
    """decisions, "How many rows may be set aside": a share of each file."""
    before = small.everything()
    with pytest.raises(BadInput) as refused:
        load(
            small.store,
            [small.write(BAD)],
            account_id=small.account_id,
            options=Options(tmp_path / "bad", Limit.parse("25%")),
        )
    assert str(refused.value).splitlines() == [
        "subscribers.ndjson: 2 of 4 rows are bad, and the limit is 25%",
        (
            f"nothing was loaded; look at the bad rows in {tmp_path / 'bad'}, correct them, or "
            "allow more"
        ),
    ]
    assert small.everything() == before
    assert (tmp_path / "bad" / "publications.csv").read_text().startswith("publication_id,reason")
    assert (tmp_path / "bad" / "subscribers.ndjson").read_text().count("\n") == 2


def test_at_the_limit_the_other_rows_are_loaded(small: Publisher, tmp_path: Path) -> None:
    loaded = load(
        small.store,
        [small.write(BAD)],
        account_id=small.account_id,
        options=Options(tmp_path / "bad", Limit.parse("50%")),
    )
    assert loaded.rejected == {"publications.csv": 1, "subscribers.ndjson": 2}


def test_the_command_allows_one_row_in_a_hundred(small: Publisher, tmp_path: Path) -> None:
    """decisions, "How many rows may be set aside"."""

    def ended(good: int, *words: str) -> int:
        rows = "".join(f"{number}\n" for number in range(1, good + 1))
        folder = small.write({"publications.csv": f"publication_id\nx\n{rows}"})
        options = ("--account", small.account_id, "--reject", tmp_path / "bad", *words)
        status = 0 if good >= 99 or words else 1
        done = masthead("import", folder, *options, database=small.url, exit_status=status)
        assert ("1 of 99 rows are bad, and the limit is 1%" in done.stderr) == bool(status)
        return status

    assert ended(98) == 1
    assert ended(99) == 0
    assert ended(98, "--max-rejected=1") == 0


def test_an_invalid_limit_is_bad_usage(unchanged: Publisher) -> None:
    folder = unchanged.write(SMALL)
    words = ("import", folder, "--account", unchanged.account_id, "--max-rejected=much")
    done = masthead(*words, database=unchanged.url, exit_status=2)
    assert "'much' is neither a number of rows nor a share of them, such as 1%" in done.stderr
