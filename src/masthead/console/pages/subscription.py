"""Changes to a subscription: copies and type, suspension, end, extension, and address."""

from collections.abc import Callable

from masthead.books import Books, subscriptions
from masthead.books.subscriptions import How, SpanEnded, Values
from masthead.circulation.addresses import FIELDS
from masthead.console.forms import Form
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.contract.printable import counted, full_name
from masthead.contract.subscription_types import TYPES, type_in_words

_HOW: dict[str, tuple[How | None, str]] = {
    "": (None, "Do not change them"),
    "free": ("free", "Those that are more are free"),
    "convert": ("convert", "Fewer or more issues of what is left"),
}

_CHANGED = {"type": "the type {}", "campaign": "{}", "copies": "{} copies of each issue"}

ADDRESS = (
    Field("first_name", "First name"),
    Field("last_name", "Last name", hint="Without a name: the reader's own."),
    Field("company", "Company"),
    Field("address", "Street"),
    Field("zip_code", "Postal code"),
    Field("city", "City"),
    Field("state", "State"),
    Field("country_name", "Country"),
    Field("country_abbreviation", "Country code"),
)
"""The fields of an address."""


def address_in(form: Form, prefix: str = "") -> dict[str, str | None]:
    """Return the address from the input; an empty field is None."""
    labels = {field.name: field.label for field in ADDRESS}
    return {name: form.text(f"{prefix}{name}", labels[name]) or None for name in FIELDS}


def _state(books: Books, key: int) -> State:
    found = subscriptions.show(books, key)
    values = found.fields
    return {
        "type": values["type"],
        "copies": values["copies"],
        "how": "",
        "campaign": values["renew_campaign_active"],
        "issues_left": values["issues"],
        "cancelled_on": values["cancelled_on"],
        "cancellation": values["cancellation"],
        "suspensions": ", ".join(
            f"{each.first} to {each.last or '…'}" for each in found.suspensions
        ),
        "mailing_address": found.mailing.line if found.mailing else "",
        "temporary_addresses": ", ".join(
            f"{span.first} to {span.last}: {postal.line}" for span, postal in found.temporary
        ),
        "subscriber_id": values["subscriber_id"],
        "publication": values["publication"],
        "name": full_name(values),
    }


def _back(_key: int, state: State) -> str:
    return f"/subscribers/{state['subscriber_id']}"


def name_of(state: State) -> str:
    """Return what a clerk calls the subscription of a state: ``Tide (print) of Ada Ames``."""
    of = f" of {state['name']}" if state["name"] else ""
    return f"{state['publication']} ({type_in_words(str(state['type'] or ''))}){of}"


def _subject(_key: int, state: State) -> str:
    return name_of(state)


def _what(books: Books, key: int) -> str:
    """Return what a clerk calls a subscription."""
    return name_of(_state(books, key))


def _value(name: str, value: int | str) -> str:
    if name == "campaign":
        return "renewal letters" if value else "no renewal letters"
    return str(value)


def _set(books: Books, key: int, form: Form) -> str:
    copies = form.number("copies", "Copies")
    type_ = form.choice("type", "Type", TYPES)
    how = form.choice("how", "Other copies", tuple(_HOW))
    if copies is None:
        form.refuse("copies", "Copies are needed.")
    if not form.is_good:
        return ""
    values = Values(type_, form["campaign"] == "1", copies, _HOW[how][0])
    done = subscriptions.set_values(books, key, values)
    said = [_CHANGED[name].format(_value(name, new)) for name, (_, new) in done.changed.items()]
    if done.converted:
        said.append(done.converted)
    if not said:
        return f"{_what(books, key)} has these values already"
    return f"{_what(books, key)} has now {', '.join(said)}"


def _suspend(books: Books, key: int, form: Form) -> str:
    first, last = form.day("from_date", "The first day"), form.day("to_date", "The last day")
    if not form.is_good:
        return ""
    done = subscriptions.suspend(books, key, first, last)
    return done.sentence.replace(f"subscription {key}", _what(books, key))


def _resume(books: Books, key: int, form: Form) -> str:
    resumed = form.day("from_date", "The first day of service")
    if not form.is_good:
        return ""
    return _ended(books, subscriptions.resume(books, key, resumed))


def _extend(books: Books, key: int, form: Form) -> str:
    issues = form.number("issues", "Issues")
    if issues is None:
        form.refuse("issues", "Say how many issues.")
        return ""
    done = subscriptions.extend(books, key, issues)
    return f"{_what(books, key)} got {counted(done.issues, 'free issue')}"


def _go_back(books: Books, key: int, form: Form) -> str:
    resumed = form.day("from_date", "The first day")
    if not form.is_good:
        return ""
    return _ended(books, subscriptions.go_back(books, key, resumed))


def _ended(books: Books, done: SpanEnded) -> str:
    """Return what a clerk tells the caller about a suspension or temporary address that ends."""
    how = f"ends on {done.last}" if done.last else "is no longer planned"
    return f"{_what(books, done.subscription_id)}: the {done.what} from {done.first} {how}"


def _record_form(  # noqa: PLR0913 - the fields of a record form
    name: str,
    title: str,
    button: str,
    fields: tuple[Field, ...],
    apply: Callable[[Books, int, Form], str],
    about: str = "",
    *,
    starts_empty: bool = True,
    confirms: bool = False,
    state: Callable[[Books, int], State] = _state,
    undo: str = "",
) -> RecordForm:
    path = f"/subscriptions/{{id:int}}/{name}"
    return RecordForm(
        path,
        title,
        button,
        Action.SERVE,
        fields,
        state,
        apply,
        _back,
        _subject,
        about,
        starts_empty,
        confirms,
        undo,
    )


_FROM = Field("from_date", "First day", "date", "Today if it is left empty.")
_TO = Field("to_date", "Last day", "date")

pages = pages_of(
    _record_form(
        "set",
        "Change a subscription",
        "Save",
        (
            Field("type", "Type", "choice", options=[(each, each) for each in TYPES]),
            Field("copies", "Copies of each issue", "number"),
            Field(
                "how",
                "Other copies",
                "choice",
                "What is left of a term has its copies: say how it comes to others.",
                options=[(name, label) for name, (_, label) in _HOW.items()],
            ),
            Field(
                "campaign",
                "Renewals",
                "choice",
                options=[("1", "Ask to renew"), ("0", "Do not ask")],
            ),
        ),
        _set,
        "It holds from the next issue on that is closed.",
        starts_empty=False,
    ),
    _record_form(
        "suspend",
        "Suspend a subscription",
        "Suspend",
        (_FROM, _TO._replace(hint="Until it is resumed if it is left empty.")),
        _suspend,
        "Issues dated in that time are skipped, and stay to come. Both days belong to it.",
    ),
    _record_form(
        "resume",
        "Resume a subscription",
        "Resume",
        (_FROM._replace(label="First day of service again"),),
        _resume,
        "Ends the suspension that lasts today, or else the next one.",
    ),
    _record_form(
        "extend",
        "Extend a subscription",
        "Extend",
        (
            Field(
                "issues", "Free issues", "number", "Such as for a copy that was lost in the mail."
            ),
        ),
        _extend,
    ),
    _record_form(
        "usual-address",
        "The usual address again",
        "End the temporary address",
        (_FROM._replace(label="First day at the usual address"),),
        _go_back,
    ),
)
