"""The consent of a reader to automatic renewal: noting it, and stopping it."""

from masthead.books import Books, renewal_consents, subscriptions
from masthead.circulation.amounts import in_currency
from masthead.console.forms import Form
from masthead.console.pages.subscription import name_of
from masthead.console.record_forms import Choices, Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.console.templating import day_in_words
from masthead.contract.printable import full_name
from masthead.errors import BadInput


def _state(books: Books, key: int) -> State:
    fields = subscriptions.show(books, key).fields
    found = renewal_consents.show(books, key)
    return {
        "type": fields["type"],
        "issues_left": fields["issues"],
        "cancelled_on": fields["cancelled_on"],
        "cancellation": fields["cancellation"],
        "renews_since": found.running and found.running.given_on,
        "next_renewal": found.next,
        "subscriber_id": fields["subscriber_id"],
        "publication": fields["publication"],
        "name": full_name(fields),
    }


def _to_give(books: Books, key: int) -> State:
    state = _state(books, key)
    if state["renews_since"]:
        raise BadInput(
            f"{name_of(state)} renews automatically since "
            f"{day_in_words(str(state['renews_since']))}: stop that first"
        )
    currency = books.currency
    bundles = renewal_consents.renewing_bundles(books, key)
    return {
        **state,
        "bundle": Choices(
            (str(each.bundle_id), f"{each.name}: {in_currency(each.cents, currency)}")
            for each in bundles
        ),
    }


def _give(books: Books, key: int, form: Form) -> str:
    bundle = form.number("bundle", "The bundle")
    words = form.text("words", "The words", characters_max=renewal_consents.WORDS_MAX)
    source = form.text("source", "Where it was given")
    day = form.day("day", "The day")
    if bundle is None:
        form.refuse("bundle", "Choose the bundle that each renewal orders.")
    if not words:
        form.refuse("words", "Say by which words the reader agreed.")
    if bundle is None or not form.is_good:
        return ""
    done = renewal_consents.give(books, key, bundle, words, source=source, day=day)
    return f"{name_of(_state(books, key))} renews automatically, by {done.bundle}"


def _to_stop(books: Books, key: int) -> State:
    state = _state(books, key)
    if not state["renews_since"]:
        raise BadInput(f"{name_of(state)} does not renew automatically")
    return state


def _stop(books: Books, key: int, form: Form) -> str:
    reason = form.text("reason", "The reason")
    if not form.is_good:
        return ""
    done = renewal_consents.stop(books, key, reason=reason)
    said = f"{name_of(_state(books, key))} does not renew automatically any more"
    if done.ordered is not None:
        day = day_in_words(done.ordered.renews_on)
        said += f"; the order of {day}, which renewed it, stays"
    return said


def _back(_key: int, state: State) -> str:
    return f"/subscribers/{state['subscriber_id']}"


def _subject(_key: int, state: State) -> str:
    return name_of(state)


pages = pages_of(
    RecordForm(
        "/subscriptions/{id:int}/consent",
        "Renew a subscription automatically",
        "Note the consent",
        Action.SERVE,
        (
            Field("bundle", "Each renewal orders", "choice"),
            Field("words", "The reader's words", hint="As they were said or written."),
            Field("source", "Where", hint="Such as telephone, letter or web."),
            Field("day", "Day of the consent", "date", "Today if it is left empty."),
        ),
        _to_give,
        _give,
        _back,
        _subject,
        "Before the last issue, the renewal is announced to the payer, and then ordered at the "
        "announced price, until somebody stops it.",
    ),
    RecordForm(
        "/subscriptions/{id:int}/stop-renewal",
        "Stop the automatic renewal",
        "Stop it",
        Action.SERVE,
        (Field("reason", "Reason", hint="It may stay empty."),),
        _to_stop,
        _stop,
        _back,
        _subject,
        "A renewal that was announced does not come then. An order that was made stays.",
    ),
)
