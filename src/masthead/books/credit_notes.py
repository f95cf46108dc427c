"""Credit notes: what an order gave back, or does not ask for any more (billing, "Invoice").

An operation that gives money back or ends items calls :func:`revenue_mark` before, and
:func:`credit_orders` after. All amounts are whole cents.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from masthead.billing import printed
from masthead.billing.printed import PrintedInvoice
from masthead.billing.settings import BillingSettings
from masthead.books.payment_allocation import give_back
from masthead.books.settlement import parts_of, settle
from masthead.circulation.refunding import Item as ItemMoney
from masthead.circulation.refunding import TermMoney, net_of, parts, tax_of
from masthead.errors import BadInput
from masthead.store.billing import ended, invoices, payments
from masthead.store.billing.invoices import Invoice, InvoiceLine
from masthead.store.billing.journal import post
from masthead.store.billing.outbox import queue_document
from masthead.store.billing.printing import printed_of
from masthead.store.billing.settings import is_billing, settings_of
from masthead.store.books import order_money
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation
from masthead.store.books.order_money import BookedItem, Marked, Term

if TYPE_CHECKING:
    from masthead.billing.journal_entries import Posting
from masthead.books.invoicing import numbered, printed_line, seller_of


class _Ended(NamedTuple):
    """What is to be credited of an item, or of the shipping (``order_item_id`` None)."""

    order_item_id: int | None
    net: int
    tax: int
    is_term: bool


def credit_what_ended(
    change: Operation, order_id: int, reason: str | None = None, *, with_shipping: bool = False
) -> Invoice | None:
    """Make the credit note of what was refunded or has ended of an order since its invoice.

    Returns None if the order has no invoice, or nothing is to be credited: what was written off
    without a payment is not claimed any more. ``with_shipping`` takes
    back the shipping too, once all items have ended. Raises BadInput if an item has come back for
    which a credit note was made, since documents never change.
    """
    invoice = invoices.invoice_of_order(change, order_id)
    if invoice is None:
        return None
    billed = invoices.lines_of(change, invoice.invoice_id)
    credited = invoices.credited_lines(change, invoice.invoice_id)
    found = parts_of(change, invoice)
    is_whole = found.order.paid_on is not None
    was_lost = (
        not is_whole
        and not invoice.open_cents
        and payments.settled_of(change, invoice.invoice_id).written_off > 0
    )
    if was_lost and not any(term.is_due for term in found.terms):
        return None
    over = list[_Ended]()
    for item in found.order.items:
        if not any(line.order_item_id == item.order_item_id for line in billed):
            continue
        terms = [term for term in found.terms if term.order_item_id == item.order_item_id]
        net, tax = _given_back(change, item, terms)
        before = [line for line in credited if line.order_item_id == item.order_item_id]
        net -= sum(line.net for line in before)
        tax -= sum(line.tax for line in before)
        if was_lost or net < 0 or tax < 0:
            raise BadInput(
                f"a credit note was made for {order_named(change, order_id)}, and it is not taken "
                "back: order the same again",
            )
        if net or tax:
            over.append(_Ended(item.order_item_id, net, tax, bool(terms)))
    if with_shipping and all(
        item.refund_date or not _is_running(found.terms, item) for item in found.order.items
    ):
        shipping = [line for line in billed if line.goods == "shipping"]
        back = [line for line in credited if line.goods == "shipping"]
        net = sum(line.net for line in shipping) - sum(line.net for line in back)
        tax = sum(line.tax for line in shipping) - sum(line.tax for line in back)
        if net or tax:
            over.append(_Ended(None, net, tax, is_term=False))
    if not over:
        return None
    return _credit(change, invoice, over, billed, credited, reason, is_whole=is_whole)


def _is_running(terms: Iterable[Term], item: BookedItem) -> bool:
    return any(term.order_item_id == item.order_item_id and term.ended_at is None for term in terms)


def _given_back(change: Operation, item: BookedItem, terms: Sequence[Term]) -> tuple[int, int]:
    """Return net and tax of an item that are not due any more, or were given back, in all.

    What was given back before a payment came back counts too.
    """
    if not terms:
        if item.is_dropped:
            return item.net, item.tax
        if not item.refunded:
            return 0, 0
        money = ItemMoney(item.net, item.tax, item.net, 0)
        net = net_of(money, item.refunded, [TermMoney(item.net, 0, 0)])
        return net, item.refunded - net
    refunds = order_money.money_of(change, terms)
    paid_net = unpaid_net = 0
    for term, money_of_term in zip(terms, refunds, strict=True):
        if term.ended_at is None:
            paid_net += term.spread.allowed
        elif term.paid_on is None:
            paid_net += term.spread.allowed
            unpaid_net += term.price - term.spread.allowed
        else:
            paid_net += money_of_term.refunded
    net = paid_net + unpaid_net
    tax = max(item.refunded - paid_net, 0) + tax_of(unpaid_net, item.net, item.tax)
    if net == item.net:
        tax = item.tax
    return net, min(tax, item.tax)


def _credit(
    change: Operation,
    invoice: Invoice,
    over: Sequence[_Ended],
    billed: Sequence[InvoiceLine],
    credited: Sequence[InvoiceLine],
    reason: str | None,
    *,
    is_whole: bool,
) -> Invoice:
    settings = settings_of(change)
    net, tax = sum(each.net for each in over), sum(each.tax for each in over)
    note = numbered(
        change, settings, "credit_note", invoice.subscriber_id, invoice.order_id
    )._replace(of_invoice_id=invoice.invoice_id, net=net, tax=tax, total=net + tax, reason=reason)
    rows = list[InvoiceLine]()
    for each in over:
        rows += _credit_lines(note, len(rows), each, billed, credited)
    assert (sum(row.net for row in rows), sum(row.tax for row in rows)) == (net, tax)
    invoices.add_invoice(change, note, _printed_note(change, settings, note, invoice, rows))
    invoices.add_lines(change, rows)
    _settle_credit(change, settings, invoice, note, over, is_whole=is_whole)
    queue_document(change, note)
    return note


def _credit_lines(
    note: Invoice,
    before: int,
    item: _Ended,
    billed: Sequence[InvoiceLine],
    credited: Sequence[InvoiceLine],
) -> list[InvoiceLine]:
    """Return the lines of a credit note for an item: its share of each line that was billed."""

    def is_of(line: InvoiceLine) -> bool:
        if item.order_item_id is None:
            return line.goods == "shipping"
        return line.order_item_id == item.order_item_id

    lines = [line for line in billed if is_of(line)]
    before_it = [line for line in credited if is_of(line)]
    nets = parts(item.net, _left_of(lines, before_it, lambda line: line.net))
    taxes = parts(item.tax, _left_of(lines, before_it, lambda line: line.tax))
    return [
        line._replace(invoice_id=note.invoice_id, line_number=before + number, net=net, tax=tax)
        for number, (line, net, tax) in enumerate(zip(lines, nets, taxes, strict=True), 1)
        if net or tax
    ]


def _left_of(
    billed: Sequence[InvoiceLine],
    credited: Iterable[InvoiceLine],
    cents_of: Callable[[InvoiceLine], int],
) -> list[int]:
    """Return what is not credited yet of each line.

    Credited lines do not say which of several lines of the same rate they take back, so what is
    left of a rate is divided among them.
    """
    rates = [(line.goods, line.percent) for line in billed]
    of_rate = Counter[tuple[str, int]]()
    for line in billed:
        of_rate[line.goods, line.percent] += cents_of(line)
    for line in credited:
        of_rate[line.goods, line.percent] -= cents_of(line)
    left = [0] * len(billed)
    for rate, cents in of_rate.items():
        places = [place for place, each in enumerate(rates) if each == rate]
        shares = parts(max(cents, 0), [cents_of(billed[place]) for place in places])
        for place, share in zip(places, shares, strict=True):
            left[place] = share
    return left


def _printed_note(
    change: Operation,
    settings: BillingSettings,
    note: Invoice,
    invoice: Invoice,
    rows: Sequence[InvoiceLine],
) -> str | None:
    """Return what a credit note prints; None if the payer was erased."""
    text = printed_of(change, invoice.invoice_id)
    if text is None:
        return None
    before = printed.from_json(text, printed.PrintedInvoice)
    lines = tuple(printed_line(row, {}, settings) for row in rows)
    record = PrintedInvoice(
        kind="credit_note",
        number=note.number_text,
        issued_on=note.issued_on,
        seller=seller_of(settings),
        payer=before.payer,
        language=before.language,
        currency=before.currency,
        prices_with_tax=before.prices_with_tax,
        order_reference=before.order_reference,
        lines=lines,
        tax_totals=printed.tax_totals(lines, before.language),
        net=note.net,
        tax=note.tax,
        total=note.total,
        corrects=invoice.number_text,
        corrects_issued_on=invoice.issued_on,
        reason=note.reason or "",
    )
    return printed.to_json(record)


def _settle_credit(
    change: Operation,
    settings: BillingSettings,
    invoice: Invoice,
    note: Invoice,
    over: Sequence[_Ended],
    *,
    is_whole: bool,
) -> None:
    """Settle an invoice by a credit note; what was paid beyond it becomes the payer's credit."""
    day = change.today
    payments.allocate(
        change,
        invoice.invoice_id,
        "credit_note",
        note.total,
        day,
        credit_note_id=note.invoice_id,
    )
    beyond = max(note.total - invoice.open_cents, 0)
    back = give_back(change, invoice, beyond, day)
    left = max(invoice.open_cents - note.total, 0)
    invoices.change_open(change, invoice.invoice_id, left)
    if is_whole:
        lost_tax = tax_of(beyond - back, invoice.total, invoice.tax)
        payments.allocate(change, invoice.invoice_id, "write_off", back - beyond, day)
        accounts: list[Posting] = [
            ("deferred", sum(each.net for each in over if each.is_term)),
            ("product_revenue", _net_of_products(over)),
            ("shipping_revenue", sum(e.net for e in over if e.order_item_id is None)),
            ("tax", note.tax - lost_tax),
            ("losses", -(beyond - back - lost_tax)),
            ("prepayments", -back),
        ]
    else:
        accounts = [
            ("unpaid", note.net),
            (settings.tax_account, note.tax),
            ("receivables", -note.total),
        ]
    post(change, day, note.name, accounts, invoice_id=note.invoice_id)
    if left == 0 and not is_whole and invoice.open_cents:
        _settle_rest(change, settings, invoice)


def _net_of_products(over: Iterable[_Ended]) -> int:
    return sum(each.net for each in over if not each.is_term and each.order_item_id is not None)


def _settle_rest(change: Operation, settings: BillingSettings, invoice: Invoice) -> None:
    """Book that a deposit pays for what a credit note left of an invoice."""
    settled = payments.settled_of(change, invoice.invoice_id)
    if settled.paid <= 0:
        return
    newest = payments.find_payment(change, payments.paid_by(change, invoice.invoice_id)[0][0])
    settle(
        change,
        settings,
        invoice._replace(open_cents=0),
        Marked(newest.value_date, change.today, newest.payment_type, newest.reference),
    )


def revenue_mark(change: Operation) -> int | None:
    """Return where the new rows of ``revenue`` begin; None if the account does not bill.

    An operation that gives money back calls it before, and :func:`credit_orders` after.
    """
    return ended.next_revenue(change) if is_billing(change) else None


def credit_orders(
    change: Operation,
    mark: int | None,
    orders: Iterable[int],
    reason: str | None = None,
    *,
    with_shipping: bool = False,
) -> list[Invoice]:
    """Make the credit notes of what an operation gave back or ended of orders.

    ``with_shipping`` is that of :func:`credit_what_ended`.
    What orders without an invoice gave back moves elsewhere: it is posted to ``clearing``. Returns
    the credit notes. Raises BadInput if an item has come back for which there is a credit note.
    """
    if mark is None:
        return []
    notes = [
        credit_what_ended(change, order_id, reason, with_shipping=with_shipping)
        for order_id in orders
    ]
    cents = ended.given_back_without_invoice(change, mark)
    post(
        change,
        change.today,
        "given back of orders without an invoice",
        [("deferred", cents), ("clearing", -cents)],
    )
    return [note for note in notes if note is not None]
