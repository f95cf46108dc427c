"""Strategies for everything that is printed."""

from hypothesis import strategies as st

from masthead.billing.printed import Line, Payer, PrintedInvoice, Seller, TaxTotal

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
CENTS = st.integers(-(10**15), 10**15)
DAYS = st.dates().map(str)

_CATEGORIES = st.sampled_from(["S", "Z", "E", "AE"])
_PERCENTS = st.integers(0, 10_000)

LINES = st.builds(
    Line,
    description=TEXTS,
    publication=TEXTS,
    first_issue=TEXTS,
    last_issue=TEXTS,
    period=TEXTS,
    reader=TEXTS,
    copies=st.integers(1, 10**6),
    net=CENTS,
    tax=CENTS,
    percent=_PERCENTS,
    category=_CATEGORIES,
    goods=st.sampled_from(["print", "digital", "product", "shipping"]),
)

PRINTED = st.builds(
    PrintedInvoice,
    kind=st.sampled_from(["invoice", "receipt", "credit_note"]),
    number=TEXTS,
    issued_on=DAYS,
    due_on=st.none() | DAYS,
    paid_on=st.none() | DAYS,
    seller=st.builds(
        Seller, name=TEXTS, street=TEXTS, city=TEXTS, vat_id=TEXTS, iban=TEXTS, bank=TEXTS
    ),
    payer=st.builds(
        Payer,
        subscriber_id=st.integers(1, 2**53),
        name=TEXTS,
        company=TEXTS,
        address_lines=st.lists(TEXTS, max_size=3).map(tuple),
        country=TEXTS,
        vat_id=TEXTS,
    ),
    language=st.sampled_from(["en", "de"]),
    currency=st.sampled_from(["EUR", "USD"]),
    prices_with_tax=st.booleans(),
    order_reference=TEXTS,
    lines=st.lists(LINES, max_size=4).map(tuple),
    tax_totals=st.lists(
        st.builds(
            TaxTotal,
            category=_CATEGORIES,
            percent=_PERCENTS,
            net=CENTS,
            tax=CENTS,
            reason=TEXTS,
        ),
        max_size=3,
    ).map(tuple),
    net=CENTS,
    tax=CENTS,
    total=CENTS,
    prepaid=CENTS,
    payment_reference=TEXTS,
    corrects=TEXTS,
    corrects_issued_on=st.none() | DAYS,
    reason=TEXTS,
    notes=st.lists(TEXTS, max_size=3).map(tuple),
)
