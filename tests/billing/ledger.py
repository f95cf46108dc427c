"""A small account that bills, as rows: two publications, a payer, and entries of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.store.billing.journal import post
from masthead.store.books.operation import operation

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.billing.journal_entries import Posting
    from tests.circulation.desk import Desk

    Note = Callable[..., None]

BEGUN = "2026-10-15"
TIDE, EBB = 1, 2
WHOLE, SHORT, CREDITED = 1, 2, 3
"""The invoices: one that is settled, one with a deposit, one that was taken back."""


def begin(desk: Desk, *, bills: bool = True) -> None:
    """Empty the account, and add what is billed: terms of two publications, a payer."""
    desk.empty()
    desk.to("2026-11-28")
    for number, name in ((TIDE, "Tide"), (EBB, "Ebb")):
        desk.put("publications", publication_id=number, name=name)
        desk.put("issues", issue_id=number, publication_id=number, name="Oct", date="2026-10-01")
    desk.put("subscribers", subscriber_id=1, first_name="Ada", last_name="Ames")
    for number in (TIDE, EBB):
        desk.put("subscriptions", subscription_id=number, subscriber_id=1, publication_id=number)
        desk.put(
            "terms",
            term_id=number,
            subscription_id=number,
            issues=12,
            issues_left=12,
            price=1200,
            kind="paid",
            paid_on="2026-10-16",
        )
    if bills:
        desk.put("billing", billing_id=1, begun_on=BEGUN)


def revenue(desk: Desk, *rows: tuple[int, str, int, str]) -> None:
    """Write rows of revenue: term, kind, cents, day."""
    found = desk.rows("SELECT coalesce(max(revenue_id), 0) FROM revenue WHERE account_id = 1")
    first = int(found[0][0]) + 1
    names = ("revenue_id", "term_id", "kind", "cents", "booked_on")
    desk.put_many(
        "revenue",
        [dict(zip(names, (first + n, *row), strict=True)) for n, row in enumerate(rows)],
    )


def entry(
    desk: Desk,
    day: str,
    text: str,
    *lines: Posting,
    invoice_id: int | None = None,
    payment_id: int | None = None,
) -> None:
    """Post an entry."""
    with operation(desk.store, desk.account_id, None) as change:
        post(change, day, text, lines, invoice_id=invoice_id, payment_id=payment_id)


def invoice(
    desk: Desk, invoice_id: int, day: str, net: int, tax: int, open_cents: int, *, of: int = 0
) -> None:
    """Write an order with its invoice of one line, or a credit note of another invoice."""
    if not of:
        desk.put("orders", order_id=invoice_id, subscriber_id=1)
    desk.put(
        "invoices",
        invoice_id=invoice_id,
        kind="credit_note" if of else "invoice",
        series="C" if of else "I",
        number=1 if of else invoice_id,
        number_text=f"2026-{invoice_id:06}",
        subscriber_id=1,
        order_id=of or invoice_id,
        of_invoice_id=of or None,
        issued_on=day,
        due_on=None if of else "2026-12-01",
        net=net,
        tax=tax,
        total=net + tax,
        open_cents=open_cents,
    )
    desk.put(
        "invoice_lines",
        invoice_id=invoice_id,
        line_number=1,
        goods="print",
        description="Tide",
        net=net,
        tax=tax,
        percent=700,
        category="S",
    )


def payment(
    desk: Desk, payment_id: int, day: str, cents: int, left: int, *, fee: int = 0, kind: str = ""
) -> None:
    """Write a payment, or what was paid back."""
    desk.put(
        "payments",
        payment_id=payment_id,
        subscriber_id=1,
        kind=kind or "payment",
        value_date=day,
        booked_on=day,
        cents=cents,
        fee=fee,
        reference=f"transfer {payment_id}",
        left_cents=left,
    )


def allocate(desk: Desk, kind: str, invoice_id: int, cents: int, day: str, by: int = 0) -> None:
    """Write an allocation of a payment (``by``), of a credit note, or of a write-off."""
    found = desk.rows("SELECT coalesce(max(allocation_id), 0) FROM allocations")
    desk.put(
        "allocations",
        allocation_id=int(found[0][0]) + 1,
        invoice_id=invoice_id,
        kind=kind,
        payment_id=by if kind == "payment" else None,
        credit_note_id=by if kind == "credit_note" else None,
        cents=cents,
        booked_on=day,
    )


def fill(desk: Desk) -> None:
    """Write two months of an account, each movement with its entry.

    Tax is 7 % and due by payment. 20.00 was owed to readers of Tide when billing began. All
    entries are posted at once: an operation for each took longer than the tests.
    """
    noted: list[tuple[tuple[Any, ...], dict[str, int]]] = []
    begin(desk)
    revenue(desk, (TIDE, "received", 2000, "2026-09-01"))
    for month in (_october, _november):
        month(desk, lambda *given, **of: noted.append((given, of)))
    with operation(desk.store, desk.account_id, None) as change:
        post(change, BEGUN, "billing begins", [("deferred", -2000), ("opening", 2000)])
        for (day, text, *lines), of in noted:
            post(change, day, text, lines, **of)


def _october(desk: Desk, note: Note) -> None:
    lines: tuple[Posting, ...]
    revenue(desk, (TIDE, "earned", 250, "2026-10-20"))
    invoice(desk, WHOLE, "2026-10-21", 3000, 210, 0)
    lines = ("receivables", 3210), ("unpaid", -3000), ("tax_not_due", -210)
    note("2026-10-21", "invoice 2026-000001", *lines, invoice_id=WHOLE)
    payment(desk, 1, "2026-10-28", 3500, 290, fee=50)
    lines = ("bank", 3450), ("fees", 50), ("prepayments", -3500)
    note("2026-10-28", "payment 1", *lines, payment_id=1)
    allocate(desk, "payment", WHOLE, 3210, "2026-10-28", 1)
    lines = ("prepayments", 3210), ("receivables", -3210), ("unpaid", 3000), ("deferred", -3000)
    taxes: tuple[Posting, ...] = ("tax_not_due", 210), ("tax", -210)
    note("2026-10-28", "invoice 2026-000001 is paid", *lines, *taxes, invoice_id=WHOLE)
    revenue(desk, (EBB, "received", 3000, "2026-10-28"), (EBB, "earned", 100, "2026-10-28"))


def _november(desk: Desk, note: Note) -> None:
    lines: tuple[Posting, ...]
    invoice(desk, SHORT, "2026-11-02", 1000, 70, 500)
    lines = ("receivables", 1070), ("unpaid", -1000), ("tax_not_due", -70)
    note("2026-11-02", "invoice 2026-000002", *lines, invoice_id=SHORT)
    payment(desk, 2, "2026-11-03", 570, 0)
    note("2026-11-03", "payment 2", ("bank", 570), ("prepayments", -570), payment_id=2)
    allocate(desk, "payment", SHORT, 570, "2026-11-03", 2)
    invoice(desk, CREDITED, "2026-11-04", 2000, 140, 0)
    lines = ("receivables", 2140), ("unpaid", -2000), ("tax_not_due", -140)
    note("2026-11-04", "invoice 2026-000003", *lines, invoice_id=CREDITED)
    invoice(desk, 4, "2026-11-05", 1000, 70, 0, of=CREDITED)
    allocate(desk, "credit_note", CREDITED, 1070, "2026-11-05", 4)
    lines = ("receivables", -1070), ("unpaid", 1000), ("tax_not_due", 70)
    note("2026-11-05", "credit note 2026-000004", *lines, invoice_id=4)
    allocate(desk, "write_off", CREDITED, 1070, "2026-11-06")
    lost: tuple[Posting, ...] = ("unpaid", 1000), ("tax_not_due", 70), ("receivables", -1070)
    note("2026-11-06", "invoice 2026-000003 is written off", *lost, invoice_id=CREDITED)
    payment(desk, 3, "2026-11-07", -90, 0, kind="paid_back")
    desk.connection.change("UPDATE payments SET left_cents = 200 WHERE payment_id = 1")
    note("2026-11-07", "paid back", ("prepayments", 90), ("bank", -90), payment_id=3)
    revenue(desk, (TIDE, "earned", 250, "2026-11-01"), (TIDE, "earned", -50, "2026-11-01"))
