"""All or nothing: what a load refuses, and how it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES
from masthead.errors import BadInput
from masthead.loading.load import load
from masthead.store.books.ownership import BOOKS
from tests.loading.publisher import SMALL, WITH_BOOKS, Publisher

if TYPE_CHECKING:
    from collections.abc import Callable


def test_with_one_bad_row_nothing_is_loaded(publisher: Publisher) -> None:
    """decisions, "All or nothing"."""
    lines = publisher.problems({**SMALL, "publications.csv": "publication_id,name\n1,a\nx,b\n"})
    assert lines[0].startswith("publications.csv:3: publication_id: ")
    assert lines[-1].startswith("nothing was loaded")
    assert not any(publisher.everything().values())


def test_a_problem_names_file_line_column_and_what_is_wrong(publisher: Publisher) -> None:
    rows = [f"{n},{'e' * (51 if n == 16 else 50)}" for n in range(1, 21)]
    line = publisher.problem({"subscribers.csv": "\n".join(["subscriber_id,email", *rows, ""])})
    assert line == f"subscribers.csv:17: email: '{'e' * 51}' is longer than 50 characters"


def test_every_problem_is_listed_in_the_order_of_files_and_lines(publisher: Publisher) -> None:
    lines = publisher.problems(
        {
            "addresses.csv": "address_id,subscriber_id,verified\n1,9,2\n2,9,1\n",
            "subscribers.csv": "subscriber_id,email,password_md5\nx,a,b\n1,a,\n1,b,\n",
        }
    )
    assert [":".join(line.split(":")[:3]) for line in lines[:-1]] == [
        "addresses.csv:2: verified",
        "addresses.csv:3: subscriber_id",
        "subscribers.csv:2: subscriber_id",
        "subscribers.csv:2: password_md5",
        "subscribers.csv:4: subscriber_id",
    ]


@pytest.mark.parametrize(
    ("bad", "more"), [(100, None), (101, "and 1 more problem"), (2_500, "and 2400 more problems")]
)
def test_the_first_hundred_problems_are_shown_and_the_others_counted(
    publisher: Publisher, bad: int, more: str | None
) -> None:
    lines = publisher.problems({"subscribers.csv": "subscriber_id\n" + "x\n" * bad})
    shown = [line for line in lines if line.startswith("subscribers.csv:")]
    assert len(shown) == 100
    assert shown[-1].startswith("subscribers.csv:101: ")
    assert lines[100:-1] == ([more] if more else [])


LENGTHS = [
    ("subscribers", "email", 50),
    ("subscribers", "first_name", 50),
    ("subscribers", "last_name", 50),
    ("subscribers", "renewal_code", 5),
    ("issues", "name", 50),
    ("custom_fields", "name", 255),
    ("custom_fields", "display_as", 255),
    ("orders", "import_name", 30),
]


@pytest.mark.parametrize(("table", "column", "length"), LENGTHS)
def test_a_text_is_as_long_as_the_interface_allows_and_no_longer(
    small: Publisher, table: str, column: str, length: int
) -> None:
    """interface, "Limits": lengths count code points."""
    key = SMALL[f"{table}.csv"].split(",", 1)[0]
    small.load({f"{table}.csv": f"{key},{column}\n1,{'🎈' * length}\n"})
    assert small.table(table)[0][column] == "🎈" * length
    line = small.problem({f"{table}.csv": f"{key},{column}\n1,{'🎈' * (length + 1)}\n"})
    value = f"'{'🎈' * (length + 1)}'" if length < 100 else f"'{'🎈' * 100}'…"
    assert line == f"{table}.csv:2: {column}: {value} is longer than {length} characters"


LINES = "bundle_id,line_number,publication_id,issues,type,price\n"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (
            {"bundle_lines.csv": f"{LINES}1,1,1,0,Print,2400\n"},
            "bundle_lines.csv:2: issues: '0' is not a number from 1 to 1000000, or -1",
        ),
        (
            {"bundles.csv": "bundle_id,name,price\n1,A year,-2400\n"},
            "bundles.csv:2: price: '-2400' is not a number from 0 to 9999999999999",
        ),
        (
            {"bundle_lines.csv": f"{LINES}1,1,1,12,Print,2000\n"},
            (
                "bundle 1 costs 2400 cents, and the prices of its lines add up to 2000: they must "
                "be the same; nothing was changed, so load the bundle and its lines together"
            ),
        ),
    ],
)
def test_a_bundle_is_what_can_be_sold(
    publisher: Publisher, files: dict[str, str], problem: str
) -> None:
    """circulation, "What is stored in addition": the prices of the lines add up to the bundle's."""
    good = {
        "publications.csv": "publication_id,name\n1,Tide\n",
        "bundles.csv": "bundle_id,name,price\n1,A year,2400\n",
        "bundle_lines.csv": f"{LINES}1,1,1,-1,Print,1400\n1,2,1,12,Digital,1000\n",
    }
    assert publisher.problem({**good, **files}) == problem
    publisher.load(good)
    assert [row["price"] for row in publisher.table("bundle_lines")] == [1400, 1000]


WORDS = [
    ("subscriptions", "type", "Paper", "is not one of Print, Digital, Both"),
    ("custom_fields", "type", "date", "is not one of checkbox, select, radio, text, textarea"),
    ("subscriptions", "renew_campaign_active", "yes", "is neither true (or 1) nor false (or 0)"),
    ("custom_fields", "allow_other", "2", "is neither true (or 1) nor false (or 0)"),
    ("list_downloads", "is_gap", "-1", "is neither true (or 1) nor false (or 0)"),
]
INTEGERS = [
    ("subscriptions", "copies", value, "is not a whole number: digits only, without leading zeros")
    for value in ("1.0", "1e3", "007", "+1", " 1", "\uff11", "one", "0x1")
] + [
    ("subscriptions", "copies", "9223372036854775808", "does not fit into 64 bits"),
    ("subscriptions", "copies", "-9223372036854775809", "does not fit into 64 bits"),
    ("subscriptions", "copies", "9" * 5_000, "does not fit into 64 bits"),
    ("publications", "issues_per_year", "0", "is not a number from 1 to 366"),
    ("publications", "issues_per_year", "-5", "is not a number from 1 to 366"),
    ("publications", "unlimited_term_months", "0", "is not a number from 1 to 1200"),
    ("publications", "credit_issues", "-3", "is not a number from 0 to 1000"),
    ("orders", "user_id", "-1", "is negative, which no id is"),
    ("orders", "user_id", "9223372036854775808", "does not fit into 64 bits"),
]
DATES = [
    ("subscriptions", "date_created", value, "is not a date that exists, written YYYY-MM-DD")
    for value in ("2026-02-29", "2026-13-01", "2026-1-1", "20260101", "0000-01-01", "today")
] + [
    ("orders", "order_date", value, "is not a time that exists, written YYYY-MM-DD hh:mm:ss")
    for value in (
        "2026-02-29 10:00:00",
        "2026-01-01",
        "2026-01-01T10:00:00",
        "2026-01-01 24:00:00",
        "2026-01-01 10:60:00",
        "2026-01-01 10:00:00Z",
    )
]
NUMBERS = [
    ("orders", "grand_total", value, "is not a number such as 10.5")
    for value in ("NaN", "Infinity", "-inf", "1,5", "", ".5", "1_0", "1e9999")
    if value
] + [
    ("orders", "grand_total", "1234567890.123456", "has more than 15 digits"),
    ("orders", "grand_total", "1e15", "has more than 15 digits"),
    ("purchases", "total", "NaN", "is not a decimal such as 10.50, of at most 18 and 9 digits"),
    ("purchases", "total", "1e2", "is not a decimal such as 10.50, of at most 18 and 9 digits"),
    ("subscribers", "password_md5", "secret", "not the 32 hexadecimal digits of an MD5 digest"),
]


@pytest.mark.parametrize(
    ("table", "column", "value", "problem"), [*WORDS, *INTEGERS, *DATES, *NUMBERS]
)
def test_a_value_of_the_wrong_kind_is_refused(
    unchanged: Publisher, table: str, column: str, value: str, problem: str
) -> None:
    """rules, "Values that are refused"."""
    key = SMALL[f"{table}.csv"].split(",", 1)[0]
    line = unchanged.problem({f"{table}.csv": f'{key},{column}\n1,"{value}"\n'})
    shown = f"'{value}' " if len(value) <= 100 else f"'{value[:100]}'… "
    shown = "" if column == "password_md5" else shown
    assert line == f"{table}.csv:2: {column}: {shown}{problem}"


@pytest.mark.parametrize("value", ["2024-02-29", "0001-01-01", "9999-12-31"])
def test_a_leap_day_and_the_first_and_last_day_exist(small: Publisher, value: str) -> None:
    small.load({"subscriptions.csv": f"subscription_id,date_created\n1,{value}\n"})
    assert small.table("subscriptions")[0]["date_created"] == value


NUL = "holds a NUL character, which no store can keep"


@pytest.mark.parametrize(
    ("cell", "shown", "problem"),
    [
        (b"a\x00b", "'a\\x00b'", NUL),
        (b"a\xffb", "'a\\udcffb'", "is not valid UTF-8"),
        (b"\xed\xa0\x80", "'\\udced\\udca0\\udc80'", "is not valid UTF-8"),
        (b"\xc0\xaf", "'\\udcc0\\udcaf'", "is not valid UTF-8"),
        (b"\xf5\x80\x80\x80", "'\\udcf5\\udc80\\udc80\\udc80'", "is not valid UTF-8"),
    ],
    ids=["NUL", "stray byte", "lone surrogate", "overlong", "beyond Unicode"],
)
def test_text_that_no_store_can_hold_is_refused(
    publisher: Publisher, cell: bytes, shown: str, problem: str
) -> None:
    """In a file that is UTF-8 otherwise (rules, "What is detected")."""
    for column, value in (("source", f"{shown} "), ("password", "")):
        content = b"subscriber_id,%s\n1,%s\n2,Z\xc3\xbcrich\n" % (column.encode(), cell)
        line = publisher.problem({"subscribers.csv": content})
        assert line == f"subscribers.csv:2: {column}: {value}{problem}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"subscriber_id":1,"source":"a\\u0000b"}', f"source: 'a\\x00b' {NUL}"),
        (b'{"subscriber_id":1,"password":"a\\u0000b"}', f"password: {NUL}"),
        (b'{"subscriber_id":1,"source":"\\udc00"}', "row: not valid JSON: "),
        (b'{"subscriber_id":1,"source":"\\ud83d"}', "row: not valid JSON: "),
        (b'{"subscriber_id":1,"source":"\xff \xc3\xbc"}', "row: not valid JSON: "),
        (b'{"subscriber_id":1,"source":"\x00"}', "row: not valid JSON: "),
    ],
)
def test_text_of_ndjson_that_no_store_can_hold_is_refused(
    publisher: Publisher, line: bytes, problem: str
) -> None:
    found = publisher.problem({"subscribers.ndjson": line})
    assert found.startswith(f"subscribers.ndjson:1: {problem}")


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("accounts.csv", b"account_id,company_name\n7,a\x00b\n", "company_name: 'a\\x00b'"),
        ("accounts.csv", b"account_id,api_key\n7,a\x00b\n", "api_key"),
        ("accounts.ndjson", b'{"account_id":7,"api_login":"\\u0000"}', "api_login"),
    ],
)
def test_text_of_an_account_that_no_store_can_hold_is_refused(
    publisher: Publisher, name: str, content: bytes, column: str
) -> None:
    folder = publisher.write({name: content})
    with pytest.raises(BadInput) as refusal:
        load(publisher.store, [folder], account_id=None)
    line = 2 if name.endswith(".csv") else 1
    shown = column if "'" in column else f"{column}:"
    assert str(refusal.value).startswith(f"{name}:{line}: {shown} {NUL}\n")


REFERENCES = [
    (table.name, column, target) for table in TABLES for column, target in table.references.items()
]


NOUNS = {
    "list_downloads": "mailing list",
    "addresses": "address",
    "custom_fields": "field",
    "order_items": "order item",
    "bank_files": "bank file",
    "debit_runs": "debit run",
    "renewal_consents": "consent",
    "qualification_forms": "qualification form of publication",
    "audit_classes": "audit class",
}
# Its key is its reference, so that rows of other files find the form of publication 77.
FORMS = "qualification_forms"


def test_what_a_row_refers_to_must_exist(
    unchanged: Publisher, new_publisher: Callable[[], Publisher]
) -> None:
    """Each reference of the contract, and no other column of these rows."""
    names, of_books = {table for table, _, _ in REFERENCES}, {*BOOKS}
    for publisher, others, chosen in (
        (unchanged, {}, names - of_books),
        (new_publisher(), WITH_BOOKS, (names & of_books) - {FORMS}),
        (new_publisher(), WITH_BOOKS, {FORMS}),
    ):
        files = {f"{name}.csv": refers_to_77(name) for name in chosen}
        assert sorted(publisher.problems({**others, **files})[:-1]) == sorted(
            f"{table}.csv:2: {column}: there is no {NOUNS.get(target, target[:-1])} 77"
            for table, column, target in REFERENCES
            if table in chosen
        )


def refers_to_77(table: str) -> str:
    """Return a file whose first row refers to records that are not there."""
    header, row, *others = WITH_BOOKS[f"{table}.csv"].splitlines()
    record = dict(zip(header.split(","), row.split(","), strict=True))
    record |= {column: "77" for of, column, _ in REFERENCES if of == table}
    if table == "custom_field_answers":
        record["option_ids"] = ""
    elif table == "custom_field_options":
        record["option_id"] = "99"
    content = f"{','.join(record)}\n{','.join(record.values())}\n"
    return content + "".join(f"{other}\n" for other in others if table in BOOKS)


def test_every_reference_is_one_of_the_contract() -> None:
    for reference in (
        ("subscriptions", "subscriber_id", "subscribers"),
        ("subscriptions", "publication_id", "publications"),
        ("subscriptions", "mailing_address_id", "addresses"),
        ("subscriptions", "billing_address_id", "addresses"),
        ("subscription_issues", "issue_id", "issues"),
        ("order_items", "order_id", "orders"),
        ("list_downloads", "parent_mailing_list_id", "list_downloads"),
        ("mailing_list_entries", "subscription_id", "subscriptions"),
    ):
        assert reference in REFERENCES


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("bundle_id,product_id", ","),
        ("bundle_id,product_id", "1,2"),
        ("bundle_id", ""),
        ("product_id", ""),
        ("sub_total", "1"),
    ],
)
def test_a_new_item_has_exactly_one_of_bundle_and_product(
    unchanged: Publisher, header: str, row: str
) -> None:
    line = unchanged.problem({"order_items.csv": f"order_item_id,order_id,{header}\n5,1,{row}\n"})
    assert line == (
        "order_items.csv:2: bundle_id: an item has either a bundle_id or a product_id: "
        "exactly one of them"
    )


@pytest.mark.parametrize(("header", "row"), [("product_id", "3"), ("bundle_id", "")])
def test_an_item_that_exists_keeps_exactly_one_of_bundle_and_product(
    unchanged: Publisher, header: str, row: str
) -> None:
    line = unchanged.problem({"order_items.csv": f"order_item_id,{header}\n1,{row}\n"})
    assert "exactly one of them" in line


@pytest.mark.parametrize("ids", ["12", "10|12", "10|20"])
def test_an_answers_options_belong_to_its_field(small: Publisher, ids: str) -> None:
    small.load({"custom_field_options.csv": "option_id,field_id\n20,2\n"})
    content = f"subscriber_id,field_id,option_ids\n2,1,{ids}\n"
    line = small.problem({"custom_field_answers.csv": content})
    wrong = ids.removeprefix("10|")
    assert line == f"custom_field_answers.csv:2: option_ids: field 1 has no option {wrong}"


def test_an_option_that_the_same_files_name_does_not_serve_another_field(
    unchanged: Publisher,
) -> None:
    """The row of the option need not say its field again."""
    line = unchanged.problem(
        {
            "custom_field_options.csv": "option_id,display_as\n10,Farms\n",
            "custom_field_answers.csv": "subscriber_id,field_id,option_ids\n2,2,10\n",
        }
    )
    assert line == "custom_field_answers.csv:2: option_ids: field 2 has no option 10"


@pytest.mark.parametrize("ids", ["a", "10|", "|", "10,11", "-1"])
def test_option_ids_are_ids_between_bars(unchanged: Publisher, ids: str) -> None:
    content = f'subscriber_id,field_id,option_ids\n2,1,"{ids}"\n'
    line = unchanged.problem({"custom_field_answers.csv": content})
    assert line.startswith("custom_field_answers.csv:2: option_ids: ")


def test_an_option_does_not_move_to_another_field(unchanged: Publisher) -> None:
    """rules, "Options and fields"."""
    line = unchanged.problem({"custom_field_options.csv": "option_id,field_id\n10,2\n"})
    assert line == (
        "custom_field_options.csv:2: field_id: option 10 belongs to field 1 already, "
        "and an option does not move"
    )


def test_a_key_that_occurs_twice_in_a_file_is_refused(publisher: Publisher) -> None:
    """rules, "Keys twice in one load"."""
    rows = {name: content.splitlines()[:2] for name, content in WITH_BOOKS.items()}
    lines = publisher.problems(
        {name: f"{header}\n{row}\n{row}\n" for name, (header, row) in rows.items()}
    )
    for table in TABLES:
        value = ", ".join(rows[f"{table.name}.csv"][1].split(",")[: len(table.key)])
        assert f"{table.name}.csv:3: {table.key[-1]}: {value} stands in line 2 too" in lines


def test_a_key_that_occurs_in_two_files_is_refused(publisher: Publisher) -> None:
    line = publisher.problem(
        {
            "subscribers.csv": "subscriber_id\n1\n",
            "subscribers.ndjson": '{"subscriber_id":1,"email":"a"}\n',
        }
    )
    assert line == "subscribers.ndjson:1: subscriber_id: 1 stands in another file too"


def test_a_renewal_code_is_unique_in_any_letter_case(unchanged: Publisher) -> None:
    line = unchanged.problem({"subscribers.csv": "subscriber_id,renewal_code\n3,aaaaa\n"})
    assert line == "subscribers.csv:2: renewal_code: subscriber 1 has aaaaa already"
    line = unchanged.problem({"subscribers.csv": "subscriber_id,renewal_code\n3,cc\n4,CC\n"})
    assert line == "subscribers.csv:3: renewal_code: an earlier row has CC too"


def test_a_terminal_acts_on_nothing_that_a_message_shows(publisher: Publisher) -> None:
    line = publisher.problem({"subscribers.csv": "subscriber_id,renewal_code\n3,c\x1b\n4,C\x1b\n"})
    assert line == "subscribers.csv:3: renewal_code: an earlier row has C\\x1b too"


def test_letters_beyond_ascii_keep_their_case_in_renewal_codes(publisher: Publisher) -> None:
    """rules, "Renewal codes": ASCII letter case is ignored, and no other."""
    publisher.load({"subscribers.csv": "subscriber_id,renewal_code\n1,é\n2,É\n"})
    assert [row["renewal_code"] for row in publisher.table("subscribers")] == ["é", "É"]


@pytest.mark.parametrize(
    ("table", "row", "column"),
    [
        ("issues", "issue_id\n5\n", "publication_id"),
        ("addresses", "address_id\n5\n", "subscriber_id"),
        ("orders", "order_id\n5\n", "subscriber_id"),
        ("custom_fields", "field_id,name\n5,x\n", "type"),
        ("custom_field_options", "option_id\n5\n", "field_id"),
    ],
)
def test_a_new_row_needs_what_it_belongs_to(
    unchanged: Publisher, table: str, row: str, column: str
) -> None:
    line = unchanged.problem({f"{table}.csv": row})
    assert line == f"{table}.csv:2: {column}: missing: a new row needs it"


def test_what_a_row_belongs_to_cannot_be_taken_away(unchanged: Publisher) -> None:
    line = unchanged.problem({"addresses.csv": "address_id,subscriber_id\n1,\n"})
    assert line.startswith("addresses.csv:2: subscriber_id: missing: each row needs it, so fill")


def test_one_mistake_is_named_once(publisher: Publisher) -> None:
    """What refers to a bad row is not called bad for that."""
    files: dict[str, str | bytes] = {**SMALL}
    files["subscribers.csv"] = SMALL["subscribers.csv"].replace("AAAAA", "TOO LONG")
    line = publisher.problem(files)
    assert line == "subscribers.csv:2: renewal_code: 'TOO LONG' is longer than 5 characters"
