"""``masthead order`` and ``issue`` as they are typed, on both stores."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

from tests.circulation.shop import refused, run, summaries
from tests.circulation.today import days
from tests.long import SHORT_ON_SQLITE
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import Store

OAK = ("--address=3 Oak", "--city=Dover")


WRONG_USAGE = [
    (("catalogue", "bundle", "add", "B"), "--line"),
    (("catalogue", "bundle", "add", "B", "--line=1:12:Print"), "publication:issues:type:price"),
    (("catalogue", "bundle", "add", "B", "--line=1:12:Paper:1"), "'Paper' is no type"),
    (("catalogue", "bundle", "add", "B", "--line=1:0:Print:1"), "'0' is not a number"),
    (("catalogue", "bundle", "add", "B", "--line=1:1:Print:1.005"), "1.005 has 3 decimals"),
    (("catalogue", "bundle", "set", "1"), "--line"),
    (("catalogue", "product", "add", "P", "--price=1.005"), "1.005 has 3 decimals"),
    (("order", "add", "--subscriber=1"), "--bundle"),
    (("order", "add", "--subscriber=1", "--bundle=1", "--price=-1"), "'-1' is not an amount"),
    (("order", "add", "--subscriber=1", "--product=1", "--new"), "are for bundles"),
    (("order", "add", "--subscriber=1", "--bundle=1", "--email=a@example.org"), "--email does"),
    (("order", "add", "--subscriber=1", "--bundle=1", "--last-name=Lee"), "--last-name does"),
    (("order", "add", "--last-name=Lee", "--bundle=1", "--recipient=1",
      "--recipient-email=a@example.org"), "--recipient-email does not change subscriber 1"),
    (("order", "show"), "the id of the order, or --reference"),
    (("issue", "close", "1", "--grace-from=2190-01-01"), "--grace-issues"),
    (("issue", "close", "1", "--grace-issues=1"), "--grace-from"),
    (("order", "refund", "1", "--amount=1.005"), "1.005 has 3 decimals"),
]  # fmt: skip


@SHORT_ON_SQLITE
def test_wrong_usage_is_said(stocked: str) -> None:
    for arguments, said in WRONG_USAGE:
        assert said in refused(stocked, *arguments, exit_status=2)


def test_an_order_is_taken_shown_paid_and_refunded(shop: str) -> None:
    """rules, "A refund says what it ends": without a terminal, --yes confirms it."""
    add = ("order", "add", "--subscriber=1", "--bundle=1", "--reference=W-7")
    assert run(shop, *add, "--dry-run") == [
        "order 1 of subscriber 1: 37.45 USD, not paid; subscription 1",
        "nothing was changed: this was a dry run",
    ]
    assert "has no order 1" in refused(shop, "order", "show", 1)
    run(shop, *add)
    assert run(shop, *add) == ["order 1 was there already: nothing changed"]
    assert run(shop, "order", "pay", 1, "--payment-type=check") == [
        "order 1 was paid: received 35.00 USD without tax, earned 0.00 USD of it at once"
    ]
    assert "already" in refused(shop, "order", "pay", 1)
    shown = run(shop, "order", "show", "--reference=w-7")
    assert "payment_type: check" in shown
    assert shown[-2] == "item 1: bundle 1 A year, 37.45 USD of which tax 2.45 USD"
    assert shown[-1] in {
        "  term 1: subscription 1 of subscriber 1, Tide, 12 of 12 issues left, 35.00 USD paid on "
        f"{day}: earned 0.00 USD, refunded 0.00 USD, unearned 35.00 USD"
        for day in days()
    }
    said = "more than can be refunded of the item: at most 37.45 USD"
    assert said in refused(shop, "order", "refund", 1, "--amount=37.46")
    said = "12 issues end; 6.96 USD is kept and earned: `masthead order allowance` gives money back"
    assert said in refused(shop, "order", "refund", 1, "--amount=30", exit_status=2)
    assert run(shop, "order", "refund", 1, "--amount=30", "--yes") == [
        (
            "item 1 of order 1: refund 30.00 USD, of which tax 1.96 USD; 12 issues end; 6.96 USD "
            "is kept and earned"
        )
    ]
    assert [each.partition(":")[0] for each in summaries(shop)[-3:]] == [
        "order 1 of subscriber 1",
        "order 1 was paid",
        "item 1 of order 1",
    ]


def test_a_new_reader_orders_a_gift(shop: str) -> None:
    who = ("--email=cleo@example.org", "--first-name=Cleo", "--last-name=Day", *OAK)
    gift = ("--recipient-last-name=Fox", "--recipient-address=1 Pine", "--recipient-city=Reno")
    assert run(shop, "order", "add", *who, *gift, "--bundle=1", "--product=1", "--paid") == [
        "order 1 of subscriber 2: 46.45 USD, paid; subscription 1"
    ]
    shown = run(shop, "subscription", "show", 1)
    assert "mailing address 3: Fox, 1 Pine, Reno" in shown
    assert "billing address 2: Cleo Day, 3 Oak, Dover" in shown


ORDERS = (
    "external_reference,email,last_name,bundle_id,product_id,price,paid,recipient_last_name\n"
    "W-1,ada@example.org,Ames,1,,,1,\n"
    "W-2,fox@example.org,Fox,2,,250.00,,\n"
    "W-2,fox@example.org,Fox,,1,,,\n"
    "W-3,ada@example.org,Ames,1,,,1,Hart\n"
)


def test_a_shops_file_is_loaded_again_and_again(shop: str, tmp_path: Path) -> None:
    """circulation, "Order"."""
    file = tmp_path / "orders.csv"
    file.write_text(ORDERS, encoding="utf-8")
    assert run(shop, "order", "import", file, "--dry-run") == [
        "3 orders were added, of 333.90 USD in all",
        "nothing was changed: this was a dry run",
    ]
    count = len(summaries(shop))
    said = ["3 orders were added, of 333.90 USD in all"]
    assert run(shop, "order", "import", file) == summaries(shop)[count:] == said
    assert run(shop, "order", "import", file) == ["nothing changed: 3 orders were there already"]
    assert len(summaries(shop)) == count + 1
    file.write_text(ORDERS.replace("250.00,,", "250.00,1,").replace(",,1,,,", ",,1,,1,"))
    assert run(shop, "order", "import", file) == [
        "1 order that was there is paid now; 2 orders are unchanged"
    ]
    lines = [
        {"external_reference": "N-1", "subscriber_id": 1, "bundle_id": 1, "paid": True},
        {"external_reference": "N-2", "subscriber_id": 1, "product_id": 1},
    ]
    other = tmp_path / "orders.ndjson"
    other.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert run(shop, "order", "import", other)[0].startswith("2 orders were added")


def test_a_payment_for_what_has_ended_is_said_and_not_booked(shop: str, tmp_path: Path) -> None:
    """circulation, "Order": a clerk returns the money, or takes the order again."""
    file = tmp_path / "orders.csv"
    rows = "external_reference,subscriber_id,bundle_id,paid\nW-1,1,1,{}\n"
    file.write_text(rows.format(0), encoding="utf-8")
    run(shop, "order", "import", file)
    run(shop, "subscription", "cancel", 1)
    file.write_text(rows.format(1), encoding="utf-8")
    said = (
        "order 1 was there already: it is marked as paid now, and what it brought was refunded, "
        "cancelled or written off before; no payment was booked"
    )
    assert run(shop, "order", "import", file) == [
        "nothing changed: 1 order was there already",
        said,
    ]
    again = ("--subscriber=1", "--bundle=1", "--reference=W-1", "--paid")
    assert run(shop, "order", "add", *again) == [said]
    assert "due: 0.00 USD, without what has ended" in run(shop, "order", "show", 1)


def test_an_allowance_gives_money_back_and_keeps_the_issues(shop: str) -> None:
    """decisions, "Allowances": a goodwill, which ends nothing; a dry run does nothing."""
    run(shop, "order", "add", "--subscriber=1", "--bundle=1", "--paid")
    said = (
        "item 1 of order 1: allowance 3.00 USD, of which tax 0.20 USD; 12 issues are kept, with "
        "32.20 USD unearned"
    )
    assert run(shop, "order", "allowance", 1, "--amount=3", "--dry-run")[0] == said
    assert run(shop, "order", "allowance", 1, "--amount=3") == [said]
    shown = run(shop, "order", "show", 1)
    assert shown[-2].endswith(", allowance 3.00 USD")
    assert "12 of 12 issues left" in shown[-1]
    assert shown[-1].endswith("earned 0.00 USD, refunded 2.80 USD, unearned 32.20 USD")
    assert summaries(shop)[-1] == said
    assert "at most 34.45 USD" in refused(shop, "order", "allowance", 1, "--amount=34.46")
    assert "at most 34.45 USD" in refused(shop, "order", "allowance", 1, "--amount=0")
    run(shop, "order", "add", "--subscriber=1", "--bundle=1")
    assert "is not paid" in refused(shop, "order", "allowance", 2, "--amount=1")


def test_a_name_given_with_an_id_belongs_to_the_address(shop: str) -> None:
    named = ("--first-name=Ada", "--last-name=Lee", "--address=9 Ash", "--city=Reno")
    run(shop, "order", "add", "--subscriber=1", *named, "--bundle=1", "--paid")
    assert "mailing address 2: Ada Lee, 9 Ash, Reno" in run(shop, "subscription", "show", 1)
    assert "last_name: Ames" in run(shop, "subscriber", "show", 1)


def test_the_audit_log_has_amounts_as_they_are_written(shop: str) -> None:
    run(shop, "order", "add", "--subscriber=1", "--bundle=1", "--paid", "--price=30", "--tax=2.1")
    run(shop, "order", "refund", 1, "--amount=10", "--yes")
    printed = masthead("audit", "--format=json", database=shop).stdout
    commands = [json.loads(line)["command"] for line in printed.splitlines()[-2:]]
    assert "--price 30.00 --tax 2.10 " in commands[0]
    assert commands[1] == "order refund 1 --amount 10.00 --yes --account 1"


def test_a_type_is_taken_in_either_letter_case(shop: str) -> None:
    run(shop, "catalogue", "bundle", "add", "Both of it", "--line=1:6:both:20")
    assert (
        run(shop, "catalogue", "bundle", "list")[-1] == "  publication 1: 6 issues, Both, 20.00 USD"
    )
    run(shop, "order", "add", "--subscriber=1", "--bundle=1", "--paid")
    assert run(shop, "subscription", "set", 1, "--type=digital") == [
        "subscription 1: type Print -> Digital"
    ]


def test_no_order_extends_an_unlimited_subscription(shop: str, tmp_path: Path) -> None:
    """rules, "Orders behind an unlimited term": what stands there would never come."""
    run(shop, "catalogue", "bundle", "add", "Digital", "--line=1:12:Digital:20")
    run(shop, "order", "add", "--subscriber=1", "--bundle=3", "--paid")
    run(shop, "order", "add", "--subscriber=1", "--bundle=2", "--paid")
    before = summaries(shop)
    for bundle in (2, 3):
        said = refused(shop, "order", "add", "--subscriber=1", "--bundle", bundle)
        assert said.startswith("Tide (")
        assert ") is unlimited" in said
        assert "--new" in said
    file = tmp_path / "orders.csv"
    file.write_text("external_reference,subscriber_id,bundle_id\nW-1,1,3\n", encoding="utf-8")
    assert "orders.csv:2: bundle_id: Tide (digital) is unlimited" in refused(
        shop, "order", "import", file
    )
    twice = ("order", "add", "--last-name=Lee", "--bundle=2", "--bundle=3")
    assert "is unlimited" in refused(shop, *twice)
    assert summaries(shop) == before
    shown = run(shop, "subscriber", "show", 1)
    assert any(f"order 1 of {day}: 20.00 USD, paid on {day}" in shown for day in days())
    assert run(shop, "order", "add", "--subscriber=1", "--bundle=3", "--new", "--paid") == [
        "order 3 of subscriber 1: 20.00 USD, paid; subscription 2"
    ]


def test_all_held_subscriptions_are_listed(shop: str, tmp_path: Path) -> None:
    """circulation, "Close"."""
    file = tmp_path / "orders.csv"
    rows = [f"W-{n},{n}@example.org,Reader,1,1" for n in range(1, 31)]
    file.write_text("\n".join(["external_reference,email,last_name,bundle_id,paid", *rows, ""]))
    run(shop, "order", "import", file)
    preview = run(shop, "issue", "close", 1, "--preview")
    assert "30 subscriptions held, which got nothing and lost nothing:" in preview
    assert sum(line.endswith(": it has no address") for line in preview) == 30


def test_a_file_that_is_not_there_is_named(shop: str, tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    assert refused(shop, "order", "import", file) == f"{file}: there is no such file\n"


def test_an_empty_file_is_not_taken_for_no_orders(shop: str, tmp_path: Path) -> None:
    """A failed export leaves such a file."""
    file = tmp_path / "orders.csv"
    for content in ("", "\n\n"):
        file.write_text(content, encoding="utf-8")
        said = "orders.csv is empty: its first line should name the columns\n"
        assert refused(shop, "order", "import", file) == said
    file.write_text("external_reference,subscriber_id,bundle_id\n", encoding="utf-8")
    assert run(shop, "order", "import", file) == ["nothing changed: the file has no orders"]


def test_a_file_without_a_last_newline_is_loaded_if_it_is_complete(
    shop: str, tmp_path: Path
) -> None:
    file = tmp_path / "orders.csv"
    file.write_text("external_reference,subscriber_id,bundle_id\nW-1,1,1", encoding="utf-8")
    assert "--allow-truncated loads it" in refused(shop, "order", "import", file)
    assert run(shop, "order", "import", file, "--allow-truncated")[0].startswith(
        "1 order was added"
    )


def test_a_file_with_a_wrong_row_loads_nothing(shop: str, tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    good = "W-1,ada@example.org,Ames,1,,,1,\n"
    for row, said in (
        ("W-9,ada@example.org,Ames,9,,,1,\n", "orders.csv:3: bundle_id: account 1 has no bundle 9"),
        ("W-9,ada@example.org,Ames,1,,1.005,1,\n", "orders.csv:3: price: 1.005 has 3 decimals"),
        ("W-9,,,1,,,1,\n", "orders.csv:3: subscriber_id: nobody pays for it"),
        (",ada@example.org,Ames,1,,,1,\n", "orders.csv:3: external_reference: missing"),
        ("W-1,ada@example.org,Ames,1,,,,\n", "orders.csv:3: paid: differs from line 2"),
    ):
        file.write_text(ORDERS.splitlines(keepends=True)[0] + good + row, encoding="utf-8")
        message = refused(shop, "order", "import", file)
        assert said in message
        assert "nothing was changed" in message
    wrong = "W-8,,,1,,,1,\nW-9,ada@example.org,Ames,1,,1.005,1,\nW-9,ada@example.org,Ames,9,,,1,\n"
    file.write_text(ORDERS.splitlines(keepends=True)[0] + good + wrong, encoding="utf-8")
    assert [
        line.split(": ")[0] for line in refused(shop, "order", "import", file).splitlines()
    ] == [
        "orders.csv:3",
        "orders.csv:4",
        "nothing was changed; correct these and load it again",
    ]
    assert "has no order with the reference 'W-1'" in refused(
        shop, "order", "show", "--reference=W-1"
    )
    file.write_text("external_reference,colour\nW-1,red\n", encoding="utf-8")
    assert "orders.csv:1: colour: no column of orders" in refused(shop, "order", "import", file)


def test_an_issue_is_previewed_closed_filed_and_stays_closed(shop: str, tmp_path: Path) -> None:
    """circulation, "Close", "Gap", "Reopen" and "The mail file"."""
    run(shop, "order", "add", "--subscriber=1", "--bundle=1", "--paid")
    run(shop, "order", "add", "--email=cleo@example.org", "--bundle=1", "--paid")
    preview = run(shop, "issue", "close", 1, "--preview")
    assert preview == [
        "issue 1 (Tide No. 1) was closed with list 1: 1 entry, 1 held",
        "  Print, paid: 1 entry, 1 copy",
        "1 subscription held, which got nothing and lost nothing:",
        "  subscription 2 of subscriber 2: it has no address",
        "nothing was changed: this was a dry run",
    ]
    assert "No. 1" in refused(shop, "issue", "close", 2)
    assert run(shop, "issue", "close", 1) == preview[:-1]
    assert "list 1" in refused(shop, "issue", "close", 1)
    assert "is not closed" in refused(shop, "issue", "gap", 2)
    run(shop, "subscription", "address", 2, "--address=3 Oak", "--city=Dover", "--zip-code=03820")
    made, nothing = (run(shop, "issue", "gap", 1)[0] for _ in range(2))
    assert made == "gap list 2 of issue 1 (Tide No. 1) was made: 1 entry, 0 held"
    assert nothing == ("no reader is to get issue 1 (Tide No. 1) now, so no list was made: 0 held")
    reopened = "issue 1 was reopened: 2 deliveries of 2 lists undone"
    assert run(shop, "issue", "reopen", 1) == [reopened]
    assert run(shop, "issue", "close", 1)[0].endswith(": 2 entries, 0 held")
    file = tmp_path / "mail.csv"
    dry = [f"{file}: 2 rows", "nothing was changed: this was a dry run"]
    assert run(shop, "issue", "file", 1, file, "--dry-run") == dry
    assert not file.exists()
    assert run(shop, "issue", "file", 1, file) == dry[:1]
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["address"] for row in rows] == ["3 Oak", "12 Elm"]
    assert "it stays closed" in refused(shop, "issue", "reopen", 1)
    listed = run(shop, "issue", "list")
    assert ["closed" in line for line in listed] == [True, False, False, False]


BAD_DATA = [
    (("subscription", "suspend", "1", "--from=2190-02-01", "--to=2190-01-01"), "before"),
    (("subscription", "suspend", "9"), "has no subscription 9"),
    (("order", "add", "--subscriber=9", "--bundle=1"), "has no subscriber 9"),
    (("issue", "close", "9"), "has no issue 9"),
]


def test_bad_data_is_one_sentence_and_changes_nothing(shop: str) -> None:
    run(shop, "order", "add", "--subscriber=1", "--bundle=1", "--paid")
    before = summaries(shop)
    for arguments, said in BAD_DATA:
        message = refused(shop, *arguments)
        assert said in message
        assert len(message.splitlines()) == 1
    assert summaries(shop) == before


def test_books_that_are_not_open_are_named(store: Store) -> None:
    url = store.new_database("not-open")
    try:
        masthead("accounts", "add", "1", database=url)
        for words in (
            ("order", "add", "--subscriber=1", "--bundle=1"),
            ("issue", "close", "1"),
            ("catalogue", "product", "add", "Mug", "--price=1"),
            ("renewals", "select", "--preview"),
            ("report", "liability"),
        ):
            assert "`masthead books open --account 1`" in refused(url, *words), words
    finally:
        store.drop_database(url)
