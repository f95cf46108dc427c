"""A reader of a free title qualifies again on the pages (qualification, "Requalification").

One visit is enough: the page shows the questions of the publication's form with the known answers.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.books import qualifications
from masthead.books.account import Books
from masthead.books.qualifications import Given
from masthead.books.reader_acts import acting, check_offered, own_subscription
from masthead.circulation.qualifying import TEXT_MAX, Answer, Question, refused_answers
from masthead.circulation.reader_rules import check_text, refused
from masthead.errors import NotFound
from masthead.store.books import reader_qualifying as stored
from masthead.store.books.operation import Reading
from masthead.store.books.qualification_forms import Form, form_of
from masthead.store.books.qualifications import stored_answers
from masthead.store.books.reader_qualifying import Newest

WEB = "web"
"""The request type of what a reader answers on the readers' pages."""

_OFFERED = "questionnaire"


class Asked(NamedTuple):
    """The questions of a free title, with the reader's answers that are known, by the field.

    ``valid_until`` is the last day of the newest qualification; ``has_ended``: it is past, and
    ``is_served``: copies go out by its answers. ``agreed_text`` is what the reader agrees to, ''
    for nothing.
    """

    publication: str
    valid_until: str
    has_ended: bool
    is_served: bool
    agreed_text: str
    questions: Sequence[Question]
    answers: Mapping[int, Answer]


class Qualified(NamedTuple):
    """What the reader's answers led to: copies until a day, or none."""

    publication: str
    valid_until: str
    is_served: bool


def asked(books: Books, subscriber_id: int, subscription_id: int) -> Asked:
    """Return the questions of the publication of a reader's subscription.

    Raises NotFound if the subscription is not the reader's, or none that goes by a qualification;
    BadInput if the account has no questionnaire for readers.
    """
    check_offered(books, subscriber_id, _OFFERED)
    with books.read() as reading:
        form, newest = _form(reading, subscriber_id, subscription_id)
        return Asked(
            form.publication,
            newest.valid_until,
            newest.valid_until < reading.today,
            bool(newest.served),
            form.agreed_text or "",
            form.questions,
            stored_answers(reading, subscriber_id),
        )


def qualify(
    books: Books,
    subscriber_id: int,
    subscription_id: int,
    answers: Mapping[int, Answer],
    *,
    has_agreed: bool,
    ip_address: str | None,
    dry_run: bool = False,
) -> Qualified:
    """Add the qualification of a reader by the answers of today.

    The evidence is the address of the reader's computer and the text that the reader agreed to.
    Raises what :func:`asked` raises, and BadInput, with the ``field`` and the id ``question``, for
    a question that must be answered, an answer that the form does not have, and if the reader has
    not agreed.
    """
    with acting(books, subscriber_id, _OFFERED, dry_run=dry_run) as act:
        form, _ = _form(act.change, subscriber_id, subscription_id)
        _check(form.questions, answers)
        if form.agreed_text and not has_agreed:
            raise refused("consent_missing", field="agreed")
        evidence = {"ip_address": ip_address or "", "agreed_text": form.agreed_text or ""}
        given = Given(
            subscriber_id,
            act.change.today,
            WEB,
            answers,
            taken_by="the reader",
            evidence={name: value for name, value in evidence.items() if value},
            subscription_id=subscription_id,
        )
        done = qualifications.add(act.books, form.publication_id, given)
        return Qualified(form.publication, done.valid_until, done.is_served)


def _form(reading: Reading, subscriber_id: int, subscription_id: int) -> tuple[Form, Newest]:
    """Return the form of the publication of a subscription, and its newest qualification."""
    own_subscription(reading, subscriber_id, subscription_id)
    found = reading.ask(stored.newest(subscriber_id)).get(subscription_id)
    if found is None:
        raise NotFound("the subscription does not go by a qualification")
    return form_of(reading, found.publication_id), found


def _check(questions: Sequence[Question], answers: Mapping[int, Answer]) -> None:
    for each in questions:
        answer = answers.get(each.field_id, Answer())
        if each.is_required and answer.is_empty:
            raise refused("answer_missing", field="answer", question=each.field_id)
        check_text(answer.text, "answer", TEXT_MAX, has_lines=True, question=each.field_id)
    for wrong in refused_answers(questions, answers):
        raise refused("answer_wrong", field="answer", question=wrong.field_id)
