"""Four times the rows are about four times the work, for rows of any content.

Else a file of a few megabytes keeps a load busy for hours, and everybody who waits for it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from tests.loading.publisher import SMALL, Publisher
from tests.loading.working import counting
from tests.long import ONE_SERVER, ONLY_LONG, SHORT_ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ROWS = 400
GROWTH_MAX = 6
"""The square of four is sixteen."""

Files = dict[str, str | bytes]


def csv(header: str, rows: Iterable[object]) -> str:
    return "\n".join([header, *map(str, rows), ""])


def subscribers(n: int) -> str:
    return csv("subscriber_id", range(1, n + 1))


def a_key_in_each_row(n: int) -> Files:
    return {"subscribers.csv": csv("subscriber_id,email", ["1,a"] * n)}


def a_key_in_two_files(n: int) -> Files:
    half = n // 2
    return {
        "subscribers.csv": csv("subscriber_id,email", ["1,a"] * half),
        "subscribers.ndjson": '{"subscriber_id":1}\n' * half,
    }


def a_key_of_two_columns_in_each_row(n: int) -> Files:
    return {"subscription_issues.csv": csv("subscription_id,issue_id", ["1,1"] * n)}


def few_keys_that_alternate(n: int) -> Files:
    keys = [f"{number % 3}" for number in range(n)]
    return {"subscribers.csv": csv("subscriber_id", keys)}


def a_key_in_each_row_that_others_refer_to(n: int) -> Files:
    half = n // 2
    return {
        "custom_field_options.csv": csv("option_id,field_id", ["77,1"] * half),
        "subscribers.csv": subscribers(half),
        "custom_field_answers.csv": csv(
            "subscriber_id,field_id,option_ids", [f"{n},2,77" for n in range(1, half)]
        ),
    }


def a_renewal_code_in_each_row(n: int) -> Files:
    rows = [f"{number},QRSTU" for number in range(n)]
    return {"subscribers.csv": csv("subscriber_id,renewal_code", rows)}


def a_renewal_code_in_all_letter_cases(n: int) -> Files:
    cases = ["".join(case) for case in product("qQ", "rR", "sS", "tT", "uU")]
    rows = [f"{number},{cases[number % len(cases)]}" for number in range(n)]
    return {"subscribers.csv": csv("subscriber_id,renewal_code", rows)}


def a_renewal_code_that_a_row_of_many_has(n: int) -> Files:
    half = n // 2
    rows = [f"{number},AAAAA" for number in range(10, 10 + half)]
    return {
        "subscribers.csv": csv("subscriber_id,renewal_code", rows),
        "subscribers.ndjson": '{"subscriber_id":1,"source":"x"}\n' * half,
    }


def all_rows_refer_to_one(n: int) -> Files:
    rows = [f"{number},1" for number in range(10, 10 + n)]
    return {"addresses.csv": csv("address_id,subscriber_id", rows)}


def all_rows_refer_to_nothing(n: int) -> Files:
    rows = [f"{number},999" for number in range(10, 10 + n)]
    return {"addresses.csv": csv("address_id,subscriber_id", rows)}


def all_rows_are_bad(n: int) -> Files:
    return {"subscribers.csv": csv("subscriber_id,email", [f"x{n},{'e' * 60}" for n in range(n)])}


def a_list_whose_parent_is_the_next_one(n: int) -> Files:
    rows = [f"{number},{number + 1}" for number in range(10, 10 + n)]
    return {"list_downloads.csv": csv("mailing_list_id,parent_mailing_list_id", rows)}


def each_has_the_code_of_the_next_one(n: int) -> Files:
    rows = [f"{number},{number + 1:05}" for number in range(10, 9 + n)]
    return {"subscribers.csv": csv("subscriber_id,renewal_code", rows)}


def each_with_its_code(n: int) -> Files:
    rows = [f"{number},{number:05}" for number in range(10, 10 + n)]
    return {"subscribers.csv": csv("subscriber_id,renewal_code", rows)}


def each_row_with_other_columns(n: int) -> Files:
    columns = TABLES_BY_NAME["subscriptions"].columns
    optional = [column.name for column in columns[3:] if column.kind.word != "one of a few words"]
    lines = []
    for number in range(n):
        record: dict[str, Any] = {"subscription_id": 10 + number}
        record |= {"subscriber_id": 1, "publication_id": 1}
        record |= {name: None for bit, name in enumerate(optional) if number >> bit & 1}
        lines.append(json.dumps(record | {"mailing_address_id": 1, "billing_address_id": 1}))
    return {"subscriptions.ndjson": "\n".join(lines)}


def options(n: int, value: str) -> str:
    return csv("option_id,field_id,value", [f"{id_},1,{value}" for id_ in range(100, 100 + n)])


def options_of_one_field_and_their_answers(n: int) -> Files:
    answers = [f"{number},1,{99 + number}" for number in range(1, n + 1)]
    return {
        "subscribers.csv": subscribers(n),
        "custom_field_options.csv": options(n, "old"),
        "custom_field_answers.csv": csv("subscriber_id,field_id,option_ids", answers),
    }


def all_options_of_one_field_change(n: int) -> Files:
    return {"custom_field_options.csv": options(n, "new")}


def an_answer_with_many_options(n: int) -> Files:
    ids = "|".join(str(100 + number) for number in range(n))
    return {
        "custom_field_options.csv": options(n, "x"),
        "custom_field_answers.csv": csv("subscriber_id,field_id,option_ids", [f"1,1,{ids}"]),
    }


def all_are_erased(n: int) -> Files:
    addresses = [f"{number},{number},Salem" for number in range(1, n + 1)]
    return {
        "subscribers.csv": csv("subscriber_id,email", [f"{n},a" for n in range(1, n + 1)]),
        "addresses.csv": csv("address_id,subscriber_id,city", addresses),
        "erasures.csv": csv("subscriber_id", [*range(1, n + 1)] * 2),
    }


ANYTHING: list[tuple[Callable[[int], Files] | None, Callable[[int], Files]]] = [
    (None, a_key_in_each_row),
    (None, a_key_in_two_files),
    (None, a_key_of_two_columns_in_each_row),
    (None, few_keys_that_alternate),
    (None, a_key_in_each_row_that_others_refer_to),
    (None, a_renewal_code_in_each_row),
    (None, a_renewal_code_in_all_letter_cases),
    (None, a_renewal_code_that_a_row_of_many_has),
    (None, all_rows_refer_to_one),
    (None, all_rows_refer_to_nothing),
    (None, all_rows_are_bad),
    (None, a_list_whose_parent_is_the_next_one),
    (each_with_its_code, each_has_the_code_of_the_next_one),
    (None, each_row_with_other_columns),
    (options_of_one_field_and_their_answers, all_options_of_one_field_change),
    (None, an_answer_with_many_options),
    (None, all_are_erased),
]


@ONLY_LONG
@ONE_SERVER
@SHORT_ON_SQLITE
@pytest.mark.parametrize("with_reject", [False, True], ids=["all or nothing", "with reject"])
@pytest.mark.parametrize(
    ("before", "files"), ANYTHING, ids=[files.__name__ for _, files in ANYTHING]
)
def test_the_work_of_a_load_grows_with_its_rows_and_not_with_their_square(
    new_publisher: Callable[[], Publisher],
    tmp_path: Path,
    before: Callable[[int], Files] | None,
    files: Callable[[int], Files],
    *,
    with_reject: bool,
) -> None:
    """rules, "The time that a load takes"."""

    def work(rows: int) -> int:
        publisher = new_publisher()
        publisher.load(SMALL)
        if before:
            publisher.load(before(rows))
        reject = tmp_path / f"rejected-{rows}" if with_reject else None
        with counting() as done, suppress(BadInput):
            publisher.load(files(rows), reject=reject)
        return done.steps

    few, many = work(ROWS), work(4 * ROWS)
    assert few, "nothing was counted"
    assert many < GROWTH_MAX * few, f"{few} steps for {ROWS} rows, {many} for {4 * ROWS}"


# Removals: of parents among as many rows that refer to others, of all, and of rows with parts.


def parents_and_as_many_rows_that_refer_to_half_of_them(n: int) -> Files:
    pairs = [f"{number},1,{number % (n // 2) + 1}" for number in range(1, n + 1)]
    both = [f"{pair},{pair.rpartition(',')[2]}" for pair in pairs]
    refers = "subscriber_id,mailing_address_id,billing_address_id"
    listed = [f"1,{number % (n // 2) + 1}" for number in range(n // 2)]
    return {
        "addresses.csv": csv("address_id,subscriber_id", [f"{m},1" for m in range(1, n + 1)]),
        "issues.csv": csv("issue_id,publication_id", [f"{m},1" for m in range(1, n + 1)]),
        "subscriptions.csv": csv(
            f"subscription_id,{refers},publication_id", [f"{row},1" for row in both]
        ),
        "orders.csv": csv(f"order_id,{refers}", both),
        "purchases.csv": csv(f"purchase_id,{refers.replace('mailing', 'shipping')}", both),
        "subscription_issues.csv": csv(
            "subscription_id,issue_id", [f"{m},{m % (n // 2) + 1}" for m in range(1, n + 1)]
        ),
        "mailing_list_entries.csv": csv("mailing_list_id,subscription_id", listed),
        "order_items.csv": csv(
            "order_item_id,order_id,bundle_id", [f"{m},{m},1" for m in range(1, n + 1)]
        ),
    }


def half(name: str, key: str) -> Callable[[int], Files]:
    """Return the files of a table with the first half of its rows, which are not changed."""
    return lambda n: {f"{name}.csv": csv(key, range(1, n // 2 + 1))}


def nothing(*names: str) -> Callable[[int], Files]:
    """Return the files of tables without rows."""
    return lambda _: {f"{name}.csv": ",".join(TABLES_BY_NAME[name].key) + "\n" for name in names}


REMOVALS = {
    "addresses": half("addresses", "address_id"),
    "issues": half("issues", "issue_id"),
    "subscriptions with their parts": half("subscriptions", "subscription_id"),
    "orders with their items": half("orders", "order_id"),
    "addresses that are needed": nothing("addresses"),
    "all at once": nothing("addresses", "subscriptions", "orders", "purchases", "issues"),
}


@ONLY_LONG
@ONE_SERVER
@SHORT_ON_SQLITE
@pytest.mark.parametrize("files", REMOVALS.values(), ids=list(REMOVALS))
def test_the_work_of_a_removal_grows_with_the_rows_and_not_with_their_square(
    new_publisher: Callable[[], Publisher], files: Callable[[int], Files]
) -> None:
    """rules, "The time that a load takes"."""

    def work(rows: int) -> int:
        publisher = new_publisher()
        publisher.load(SMALL)
        publisher.load(parents_and_as_many_rows_that_refer_to_half_of_them(rows))
        with counting() as done, suppress(BadInput):
            publisher.load_complete(files(rows))
        return done.steps

    few, many = work(ROWS), work(4 * ROWS)
    assert few, "nothing was counted"
    assert many < GROWTH_MAX * few, f"{few} steps for {ROWS} rows, {many} for {4 * ROWS}"
