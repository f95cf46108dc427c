"""Entries of the bank's statements that wait for a person: confirm, assign or ignore them."""

from starlette.responses import Response

from masthead.books import Books, bank_decisions, open_items
from masthead.books.bank_decisions import Part
from masthead.books.bank_imports import Read
from masthead.circulation.amounts import in_currency
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get
from masthead.console.pages.invoice_forms import what_settled
from masthead.console.pages.money import check_bills
from masthead.console.person_picker import chosen_person
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.console.templating import day_in_words
from masthead.errors import BadInput, NotFound

_SHOWN = 200
_PARTS = range(1, 5)


def bank(request: PageRequest) -> Response:
    """Show the entries that wait for a decision, the oldest first."""
    check_bills(request)
    found = bank_decisions.to_decide(request.books, limit=_SHOWN + 1)
    return request.page("bank", entries=found[:_SHOWN], has_more=len(found) > _SHOWN)


def _read(books: Books, key: int) -> Read:
    """Return an entry that waits. Raises NotFound if none with this id does."""
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    found = bank_decisions.to_decide(books, after=key - 1, limit=1)
    if not found or found[0].entry.bank_entry_id != key:
        raise NotFound("no such entry of the bank waits for a decision")
    return found[0]


def _state(books: Books, key: int) -> State:
    read = _read(books, key)
    entry = read.entry
    return {
        "day": day_in_words(entry.value_date),
        "cents": in_currency(entry.cents, read.currency),
        "who": entry.name or entry.reference or "",
        "proposed": read.number or "",
    }


def _incoming(books: Books, key: int) -> State:
    state = _state(books, key)
    if _read(books, key).entry.cents <= 0:
        raise BadInput(
            "this money went out: note on the account of the payer that the payment came back, and "
            "ignore the entry"
        )
    return state


def _proposed(books: Books, key: int) -> State:
    state = _incoming(books, key)
    if not state["proposed"]:
        raise BadInput("nothing is proposed for this entry: say whose it is")
    return state


def _confirm(books: Books, key: int, _form: Form) -> str:
    return _settled(bank_decisions.confirm(books, key))


def _settled(done: bank_decisions.Decided) -> str:
    assert done.received is not None
    return what_settled(done.received)


def _assign(books: Books, key: int, form: Form) -> str:
    payer = chosen_person(form, "payer")
    if not form.is_good:
        return ""
    if not form["invoice"]:
        if payer is None:
            form.refuse("invoice", "Say which invoice it pays, or who paid.")
            return ""
        return _settled(bank_decisions.assign(books, key, subscriber_id=payer))
    found = open_items.find(books, form["invoice"])
    if found is None:
        form.refuse("invoice", f"There is no invoice {form['invoice']}.")
        return ""
    return _settled(
        bank_decisions.assign(books, key, invoice=found.number_text, subscriber_id=payer)
    )


def _split(books: Books, key: int, form: Form) -> str:
    parts = []
    for n in _PARTS:
        number, payer = form[f"invoice_{n}"], chosen_person(form, f"payer_{n}")
        cents = form.amount(f"amount_{n}", "The amount")
        if not number and payer is None:
            if cents is not None:
                form.refuse(f"invoice_{n}", "Say which invoice it pays, or who paid.")
        elif cents is None:
            form.refuse(f"amount_{n}", "Say how much it is.")
        elif not number:
            parts.append(Part(cents, subscriber_id=payer))
        elif (found := open_items.find(books, number)) is not None:
            parts.append(Part(cents, found.number_text, payer))
        else:
            form.refuse(f"invoice_{n}", f"There is no invoice {number}.")
    if not form.is_good:
        return ""
    done = bank_decisions.split(books, key, parts)
    return "; ".join(
        f"{in_currency(each.cents, each.currency)} of "
        f"{open_items.named(books, each.subscriber_id)}: {what_settled(each)}"
        for each in done.received
    )


def _ignore(books: Books, key: int, form: Form) -> str:
    reason = form.text("reason", "The reason", characters_max=200)
    if not form.is_good:
        return ""
    bank_decisions.ignore(books, key, reason or None)
    return "the entry of the bank is ignored"


def _back(_key: int, _state: State) -> str:
    return "/bank"


def _subject(_key: int, state: State) -> str:
    return ", ".join(filter(None, (str(state["cents"]), str(state["day"]), str(state["who"]))))


pages = [
    get("/bank", bank),
    *pages_of(
        RecordForm(
            "/bank/{id:int}/confirm",
            "Book a payment of the bank",
            "Book it",
            Action.BILL,
            (),
            _proposed,
            _confirm,
            _back,
            _subject,
            "It pays the invoice that is proposed.",
            confirms=True,
        ),
        RecordForm(
            "/bank/{id:int}/assign",
            "Whose payment is it",
            "Book it",
            Action.BILL,
            (
                Field("invoice", "Number of the invoice", hint="Or its payment reference."),
                Field("payer", "Or who paid", "person", hint="Their oldest open invoice is first."),
            ),
            _incoming,
            _assign,
            _back,
            _subject,
            "What is over settles other open invoices of the payer, or is a credit.",
            confirms=True,
        ),
        RecordForm(
            "/bank/{id:int}/split",
            "Split a payment of the bank",
            "Book it",
            Action.BILL,
            [
                field
                for n in _PARTS
                for field in (
                    Field(f"invoice_{n}", f"Part {n}: number of the invoice"),
                    Field(f"payer_{n}", f"Part {n}: or who paid", "person"),
                    Field(f"amount_{n}", f"Part {n}: amount", "amount"),
                )
            ],
            _incoming,
            _split,
            _back,
            _subject,
            "Each part becomes a payment. Together they are the amount that came.",
            confirms=True,
        ),
        RecordForm(
            "/bank/{id:int}/ignore",
            "Ignore an entry of the bank",
            "Ignore it",
            Action.BILL,
            (Field("reason", "Reason", hint="Such as a fee of the bank."),),
            _state,
            _ignore,
            _back,
            _subject,
            "It is no payment of a payer. Its name and its texts are deleted.",
            confirms=True,
        ),
    ),
]
