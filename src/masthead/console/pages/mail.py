"""Mails that wait, failed or are on hold, and addresses to which none is sent."""

from starlette.responses import Response

from masthead.books import Books, held_addresses, open_items, outbox
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get
from masthead.console.pages.money import check_bills
from masthead.console.record_forms import RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.errors import NotFound

_SHOWN = 200

KINDS = {
    "invoice": "Invoice",
    "credit_note": "Credit note",
    "reminder": "Reminder",
    "announcement": "Announcement of a renewal",
    "welcome": "Welcome letter",
    "cancellation": "Confirmation of a cancellation",
    "renewal": "Renewal letter",
    "requalification": "Requalification",
    "sign_in_link": "Link to sign in",
    "password_link": "Link to set a password",
    "confirmation": "Confirmation of a change",
}
"""What the pages call the kinds of mails."""

STATES = {
    "queued": ("waits", ""),
    "sent": ("sent", "good"),
    "failed": ("failed", "bad"),
    "held": ("on hold", "warn"),
    "cancelled": ("cancelled", ""),
}
"""What the pages call the states of mails, and the kinds of their badges."""


def mail(request: PageRequest) -> Response:
    """Show how the outbox stands: what failed or is on hold, and what waits."""
    check_bills(request)
    return request.page(
        "mail",
        found=outbox.overview(request.books, _SHOWN),
        kinds=KINDS,
        states=STATES,
    )


def _mail(books: Books, key: int) -> State:
    """Return the state of a mail. Raises NotFound if there is none with this id."""
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    found = outbox.find(books, key)
    if found is None:
        raise NotFound("there is no such mail")
    return {
        "about": " ".join(filter(None, (KINDS[found.kind], found.number))),
        "payer": " ".join(filter(None, (found.first_name, found.last_name))),
        "status": STATES[found.status][0],
        "why": found.error or "",
    }


def _retry(books: Books, key: int, _form: Form) -> str:
    outbox.retry(books, [key])
    return "the mail is sent again"


def _cancel(books: Books, key: int, _form: Form) -> str:
    outbox.cancel(books, [key])
    return "the mail is not sent any more"


def _held(books: Books, key: int) -> State:
    """Return the state of an address on hold. Raises NotFound if there is none with this id."""
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    found = held_addresses.find(books, key)
    if found is None:
        raise NotFound("no such address is on hold")
    return {"address": found.address}


def _release(books: Books, key: int, _form: Form) -> str:
    done = held_addresses.release(books, str(_held(books, key)["address"]))
    if not done.mails:
        return "the address gets mails again"
    mails = "1 mail is" if done.mails == 1 else f"{done.mails} mails are"
    return f"the address gets mails again; {mails} sent to it"


def _back(_key: int, _state: State) -> str:
    return "/mail"


def _subject(_key: int, state: State) -> str:
    return ", ".join(
        str(state[name]) for name in ("about", "payer", "address", "why") if state.get(name)
    )


pages = [
    get("/mail", mail),
    *pages_of(
        RecordForm(
            "/mails/{id:int}/retry",
            "Send a mail again",
            "Send it again",
            Action.BILL,
            (),
            _mail,
            _retry,
            _back,
            _subject,
            "It goes to the address that the payer has now.",
            confirms=True,
        ),
        RecordForm(
            "/mails/{id:int}/cancel",
            "Do not send a mail",
            "Do not send it",
            Action.BILL,
            (),
            _mail,
            _cancel,
            _back,
            _subject,
            "The document stays, and can be printed.",
            confirms=True,
            undo="Send the mail again.",
        ),
        RecordForm(
            "/held-addresses/{id:int}/release",
            "Send to an address again",
            "Send to it again",
            Action.BILL,
            (),
            _held,
            _release,
            _back,
            _subject,
            "Release an address once it takes mails again. What is on hold is then sent.",
            confirms=True,
        ),
    ),
]
