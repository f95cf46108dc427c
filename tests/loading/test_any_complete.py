"""Complete files make of any data what they would make of none."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from hypothesis import event, given
from hypothesis import strategies as st

from masthead.errors import BadInput
from tests.loading.changed import copy_of, passed
from tests.loading.records import publishers
from tests.long import ONLY_LONG, examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.loading.publisher import Publisher

# What the former data forbid: a subscriber keeps the renewal code, and an option its field.
CONFLICT = re.compile(r" has \S+ already$|an option does not move$")
REFERENCE = re.compile(r" is not in the files, but .+ refers to it \(\w+\)$")


def loads_complete(publisher: Publisher, files: dict[str, str], refused: re.Pattern[str]) -> bool:
    """Load complete files; return False if they are refused, with such sentences and no change."""
    before = publisher.everything(), publisher.commit_count()
    try:
        publisher.load_complete(files)
    except BadInput as error:
        event("refused")
        assert (publisher.everything(), publisher.commit_count()) == before
        *problems, _advice = str(error).splitlines()
        assert problems
        assert all(refused.search(line) for line in problems), problems
        return False
    return True


def rows_of(raw: bytes) -> dict[str, list[str]]:
    """Return the rows of an exported file by their first cell."""
    return {row[0]: row for row in csv.reader(io.StringIO(raw.decode(), newline=""))}


@ONLY_LONG
@examples(4, 100)  # on each kind of database
@given(data=st.data())
def test_complete_files_make_of_any_data_what_they_make_of_none(
    new_publisher: Callable[[], Publisher], data: st.DataObject
) -> None:
    """rules, "What complete files are"; and the copy of a client of the feed agrees."""
    first, second = data.draw(publishers()), data.draw(publishers())
    publisher, empty = new_publisher(), new_publisher()
    publisher.load(first)
    copy, commits = copy_of(publisher), publisher.commit_count()
    if not loads_complete(publisher, second, CONFLICT):
        return
    assert passed(copy, publisher, commits + 1) == copy_of(publisher)
    empty.load(second)
    found, expected = publisher.exported(), empty.exported()
    people, expected_people = (rows_of(each.pop("subscribers.csv")) for each in (found, expected))
    assert found == expected
    assert {key: row for key, row in people.items() if key in expected_people} == expected_people
    deleted = people["subscriber_id"].index("delete_date")
    assert all(row[deleted] for key, row in people.items() if key not in expected_people)


@ONLY_LONG
@examples(4, 100)
@given(data=st.data())
def test_complete_files_of_some_tables_leave_what_can_be_loaded_again(
    new_publisher: Callable[[], Publisher], data: st.DataObject
) -> None:
    """Or they are refused, such as for a reference to a row that would go."""
    first, second = data.draw(publishers()), data.draw(publishers())
    chosen = data.draw(st.sets(st.sampled_from(sorted(second)), min_size=1))
    publisher = new_publisher()
    publisher.load(first)
    copy, commits = copy_of(publisher), publisher.commit_count()
    wrong = re.compile(
        f"{CONFLICT.pattern}|{REFERENCE.pattern}|there is no |has no option |add up to "
    )
    if not loads_complete(publisher, {name: second[name] for name in chosen}, wrong):
        return
    assert passed(copy, publisher, commits + 1) == copy_of(publisher)
    exported, again = publisher.exported(), new_publisher()
    again.load(exported)
    assert again.exported() == exported
