"""The mandates of a payer: adding one, ending it, letting it rest and resuming it."""

from masthead.books import Books, debits_shown, mandates, open_items
from masthead.books.mandates import Given
from masthead.console.forms import Form
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.console.templating import day_in_words
from masthead.errors import BadInput, NotFound

_WORDS = {"active": "is active", "resting": "rests", "ended": "has ended"}


def _payer(books: Books, key: int) -> State:
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    return {"name": open_items.named(books, key)}


def _add(books: Books, key: int, form: Form) -> str:
    iban, day = form.text("iban", "The IBAN"), form.day("signed_on", "The day")
    holder = form.text("account_holder", "The name", characters_max=mandates.HOLDER_MAX)
    reference = form.text("reference", "The reference", characters_max=35)
    if not iban:
        form.refuse("iban", "Say from which account is collected.")
    if not form.is_good:
        return ""
    with form.refusing("iban"):
        given = Given(iban, reference or None, day, form["scheme"] or "core", holder or None)
        done = mandates.add(books, key, given)
        said = f"Mandate {done.mandate.reference} is noted"
        if done.replaced:
            said += f"; mandate {done.replaced} has ended with it"
        return said
    return ""


def _mandate(books: Books, key: int) -> State:
    if not open_items.bills(books):
        raise NotFound("this account makes no invoices")
    found, name = debits_shown.mandate(books, key)
    return {
        "subscriber_id": found.subscriber_id,
        "name": name,
        "mandate": found.reference,
        "status": found.status,
    }


def _running(books: Books, key: int) -> State:
    """Return the state of a mandate that has not ended."""
    state = _mandate(books, key)
    if state["status"] == "ended":
        raise BadInput(f"mandate {state['mandate']} has ended")
    return state


def _resting(books: Books, key: int) -> State:
    """Return the state of a mandate that rests."""
    state = _mandate(books, key)
    if state["status"] != "resting":
        raise BadInput(f"mandate {state['mandate']} {_WORDS[str(state['status'])]}")
    return state


def _end(books: Books, key: int, form: Form) -> str:
    reason = form.text("reason", "The reason")
    if not form.is_good:
        return ""
    return mandates.end(books, str(_running(books, key)["mandate"]), reason or None).sentence


def _resume(books: Books, key: int, _form: Form) -> str:
    return mandates.resume(books, str(_resting(books, key)["mandate"])).sentence


def _back(_key: int, state: State) -> str:
    return f"/subscribers/{state['subscriber_id']}/account"


def _subject(_key: int, state: State) -> str:
    return f"{state['mandate']} of {state['name']}"


def in_words(mandate: mandates.Mandate) -> tuple[str, str]:
    """Return what a mandate is now, and the kind of its badge."""
    since = day_in_words(mandate.status_since)
    if mandate.status == "active":
        return "active", "good"
    word = "rests" if mandate.status == "resting" else "ended"
    return f"{word} since {since}" if word == "rests" else f"{word} {since}", "warn"


pages = pages_of(
    RecordForm(
        "/subscribers/{id:int}/mandate",
        "Add a mandate",
        "Add the mandate",
        Action.BILL,
        (
            Field("iban", "IBAN", hint="Its check digits are checked."),
            Field("signed_on", "Day of the signature", "date", "Today if it is left empty."),
            Field("account_holder", "Account holder", hint="If it is not the payer."),
            Field("reference", "Reference", hint="Of a mandate on paper. Empty: one is made."),
            Field(
                "scheme",
                "Who pays",
                "radios",
                options=(("core", "A person or a business"), ("b2b", "A business, by B2B")),
            ),
        ),
        _payer,
        _add,
        lambda key, _state: f"/subscribers/{key}/account",
        lambda _key, state: str(state["name"]),
        "The payer has signed that you collect. A mandate that the payer has already ends.",
        starts_empty=False,
    ),
    RecordForm(
        "/mandates/{id:int}/end",
        "End a mandate",
        "End it",
        Action.BILL,
        (Field("reason", "Reason", hint="Such as the payer took it back."),),
        _running,
        _end,
        _back,
        _subject,
        "Nothing is collected by it any more. What is with the bank stays there.",
        confirms=True,
    ),
    RecordForm(
        "/mandates/{id:int}/resume",
        "Collect by a mandate again",
        "Collect again",
        Action.BILL,
        (),
        _resting,
        _resume,
        _back,
        _subject,
        "It rests, since collections came back. Ask the payer first.",
    ),
)
