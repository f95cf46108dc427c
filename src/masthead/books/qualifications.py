"""Qualifications: that a reader qualified for a free title on a day, and by what.

A qualification is added and never changed. The newest one by its own day counts, whenever it was
written down: a file that comes late changes nothing of what readers have said since (decisions,
"The newest qualification").
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.first_day import begins_on
from masthead.circulation.qualifying import (
    Answer,
    Words,
    answers_text,
    class_of,
    is_disqualified,
    refused_answers,
    valid_until,
)
from masthead.contract.moments import is_day
from masthead.contract.printable import single_spaced
from masthead.contract.subscription_types import TYPES
from masthead.errors import BadInput
from masthead.store.books import qualifications as stored
from masthead.store.books import qualifying_again
from masthead.store.books.contact_details import names_of
from masthead.store.books.extendable_subscriptions import look_up_usual_addresses, usual_address
from masthead.store.books.issue import check_publication
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation
from masthead.store.books.order_terms import publication_of
from masthead.store.books.qualification_forms import form_of, request_types
from masthead.store.books.qualifications import Held, Qualification
from masthead.store.books.reader_lookup import addresses_of, readers_by

__all__ = [
    "Added",
    "Answer",
    "Given",
    "Qualification",
    "Shown",
    "add",
    "add_many",
    "known_answers",
    "of_reader",
    "refused_of",
]

EVIDENCE_MAX = 20
"""The most values of a qualification's evidence."""

_TEXT_MAX = 200
_EVIDENCE_TEXT_MAX = 5_000


class Given(NamedTuple):
    """What a reader said, how, and what proves it.

    ``on`` is the day of the answers, which are by the id of the field. ``evidence`` has values by
    their names, such as the address of a computer. ``taken_by`` is who took the answers.
    ``reference`` is that of another system. ``subscription_id`` is the subscription that the
    answers are for, if the reader said so; None: the newest one, of that ``type`` if there is one.
    A subscription that begins has the type, else that of the form. ``address_id`` is the address to
    which the copies go, None if the reader named none.
    """

    subscriber_id: int
    on: str
    request_type: str
    answers: Mapping[int, Answer]
    taken_by: str | None = None
    evidence: Mapping[str, str] = {}
    type: str | None = None
    reference: str | None = None
    subscription_id: int | None = None
    address_id: int | None = None


class Added(NamedTuple):
    """A qualification that was added.

    ``is_newest`` is false if the reader has one of a later day, which counts. ``audit_class`` is
    the code of its class. ``withdraws``: the subscription was cancelled, and goes on.
    """

    qualification_id: int
    subscriber_id: int
    subscription_id: int
    publication_id: int
    publication: str
    on: str
    valid_until: str
    request_type: str
    audit_class: str | None
    is_disqualified: bool
    is_served: bool
    is_new_subscription: bool
    is_newest: bool
    withdraws: bool = False

    @property
    def sentence(self) -> str:
        """The reader, the publication, the class, and until when it is valid; no answers."""
        said = (
            f"subscriber {self.subscriber_id} qualified for publication {self.publication_id} "
            f"({self.publication}) on {self.on} ({self.request_type}): class {self.audit_class}, "
            f"valid until {self.valid_until}"
        )
        if self.is_new_subscription:
            said += f"; subscription {self.subscription_id} began"
        else:
            said += f"; subscription {self.subscription_id}"
        if self.is_disqualified:
            said += "; an answer disqualifies, so no copy goes out"
        elif not self.is_served:
            said += "; the class is not served, so no copy goes out"
        if self.withdraws:
            said += "; it was cancelled, and goes on"
        return said if self.is_newest else f"{said}; a later one counts"


class Shown(NamedTuple):
    """A qualification with its answers in words, and its evidence by name.

    ``disqualified_by`` are the answers that disqualify.
    """

    qualification: Qualification
    answers: Sequence[tuple[str, str]]
    evidence: Mapping[str, str]
    disqualified_by: Sequence[str] = ()

    @property
    def is_served(self) -> bool:
        """Whether copies go out by it, if it is valid on the day of an issue."""
        return bool(self.qualification.served) and self.qualification.lapsed_by is None


def add(books: Books, publication_id: int, given: Given, *, dry_run: bool = False) -> Added:
    """Add the qualification of a reader for a publication.

    It is for the reader's newest subscription that is not cancelled, or begins one. Answers replace
    those of the reader's questionnaire that are not newer; what is not answered stays. A reader who
    asks for copies withdraws an earlier cancelling that has not ended the subscription (decisions,
    "Qualifying after cancelling"). Raises NotFound for a publication without a form. Raises
    BadInput, with the ``field``, for an unknown or deleted reader, a day to come, a request type
    that there is not, and answers that the form refuses.
    """
    with books.change(dry_run=dry_run) as change:
        (done,) = add_many(change, publication_id, [given])
        change.say(done.sentence)
    return done


def add_many(change: Operation, publication_id: int, given: Sequence[Given]) -> list[Added]:
    """Add qualifications of many readers with few statements; return them in the same order.

    Runs in an operation, whose audit entry the caller writes. Raises what :func:`add` raises.
    """
    adding = _Adding(change, publication_id, given)
    for error in adding.refused():
        raise error
    return adding.run()


def refused_of(
    change: Operation, publication_id: int, given: Sequence[Given]
) -> list["RefusedError"]:
    """Return why qualifications are refused, and write nothing; an empty list if none is."""
    return [*_Adding(change, publication_id, given).refused()]


class RefusedError(BadInput):
    """A qualification that is refused; ``number`` is its place among those that are given."""

    def __init__(self, message: str, number: int, field: str) -> None:
        super().__init__(message, field=field)
        self.number = number


def _wrong_texts(given: Given) -> Iterator[tuple[str, str]]:
    if len(given.evidence) > EVIDENCE_MAX:
        yield "evidence", f"it has at most {EVIDENCE_MAX} values"
    for name, text in given.evidence.items():
        if len(name) > _TEXT_MAX or len(text) > _EVIDENCE_TEXT_MAX:
            yield "evidence", f"the value of {name[:40]!r} is too long"
    for name, short in (("taken_by", given.taken_by), ("reference", given.reference)):
        if len(short or "") > _TEXT_MAX:
            yield name, f"it has at most {_TEXT_MAX} characters"


class _Adding:
    """The qualifications that are added together."""

    def __init__(self, change: Operation, publication_id: int, given: Sequence[Given]) -> None:
        self._change = change
        self._form = form_of(change, publication_id)
        self._given = given
        self._types = {each.code: each for each in request_types(change)}
        readers = [each.subscriber_id for each in given]
        found = readers_by(change, "subscriber_id", readers)
        self._readers = {key: those[0] for key, those in found.items() if those}
        self._days = stored.stored_days(change, readers)
        self._held = stored.held(change, publication_id, readers)
        self._begun: set[int] = set()

    def run(self) -> list[Added]:
        """Write all of them, which are not refused, and bring what follows up to date."""
        self._look_up_places()
        added = [self._add(each) for each in self._given]
        self._write_answers()
        self._change.write()
        subscriptions = {each.subscription_id for each in added}
        stored.write_current(self._change, subscriptions)
        self._change.touch(subscriptions)
        current = stored.current_of(self._change, subscriptions)
        added = [
            each._replace(is_newest=current[each.subscription_id] == each.qualification_id)
            for each in added
        ]
        return self._go_on(added)

    def _go_on(self, added: Sequence[Added]) -> list[Added]:
        """Write what the newest ones change of the subscriptions beside the copies."""
        newest = [pair for pair in zip(self._given, added, strict=True) if pair[1].is_newest]
        qualifying_again.send_to(
            self._change,
            {
                each.subscription_id: given.address_id
                for given, each in newest
                if given.address_id is not None
            },
        )
        asked = {
            each.subscription_id: each.on
            for given, each in newest
            if each.is_served and self._types[given.request_type].is_request
        }
        cancelled = qualifying_again.go_on(self._change, asked)
        return [
            each._replace(withdraws=each.is_newest and each.subscription_id in cancelled)
            for each in added
        ]

    def refused(self) -> Iterator[RefusedError]:
        """Yield why some of them are refused."""
        for number, each in enumerate(self._given):
            for field, sentence in self._wrong(each):
                yield RefusedError(sentence, number, field)

    def _wrong(self, given: Given) -> Iterator[tuple[str, str]]:
        """Yield what is wrong: the field, and a sentence."""
        reader = self._readers.get(given.subscriber_id)
        if reader is None:
            yield "subscriber_id", f"there is no subscriber {given.subscriber_id}"
        elif reader.delete_date is not None:
            named = reader_named(self._change, given.subscriber_id)
            yield "subscriber_id", f"{named} was deleted on {reader.delete_date[:10]}"
        if not is_day(given.on):
            yield "on", f"{given.on!r} is not a day such as 2026-11-05"
        elif given.on > self._change.today:
            yield "on", f"{given.on} is still to come: the day is that of the answers"
        if given.request_type not in self._types:
            known = ", ".join(self._types)
            yield (
                "request_type",
                f"{given.request_type!r} is not a request type: those are {known}",
            )
        if given.type not in {None, *TYPES}:
            yield "type", f"{given.type!r} is not one of {', '.join(TYPES)}"
        yield from _wrong_texts(given)
        for refused in refused_answers(self._form.questions, given.answers):
            yield "answers", refused.sentence

    def _add(self, given: Given) -> Added:
        form = self._form
        subscription_id = self._subscription(given)
        found = class_of(form.classes, given.answers)
        is_out = is_disqualified(form.questions, given.answers)
        last = valid_until(given.on, form.months)
        row = self._change.add(
            "qualifications",
            qualification_id=self._change.new_id("qualifications"),
            subscriber_id=given.subscriber_id,
            publication_id=form.publication_id,
            subscription_id=subscription_id,
            qualified_on=given.on,
            valid_until=last,
            request_type=given.request_type,
            audit_class_id=None if found is None else found.audit_class_id,
            disqualified=int(is_out),
            answers=answers_text(given.answers),
            taken_by=single_spaced(given.taken_by or "") or None,
            evidence=json.dumps(dict(given.evidence), ensure_ascii=False, sort_keys=True)
            if given.evidence
            else None,
            external_reference=single_spaced(given.reference or "") or None,
            recorded_at=self._change.now,
        )
        key = row["qualification_id"]
        assert isinstance(key, int)
        return Added(
            key,
            given.subscriber_id,
            subscription_id,
            form.publication_id,
            form.publication,
            given.on,
            last,
            given.request_type,
            None if found is None else found.code,
            is_out,
            found is not None and found.is_served and not is_out,
            subscription_id in self._begun,
            is_newest=True,
        )

    def _look_up_places(self) -> None:
        """Look up together what is needed of readers who may begin a subscription."""
        readers = sorted({each.subscriber_id for each in self._given} - self._held.keys())
        if readers:
            addresses_of(self._change, readers)
            look_up_usual_addresses(self._change, readers)

    def _subscription(self, given: Given) -> int:
        """Return the subscription that the qualification is for; begin one if there is none."""
        held = self._held.setdefault(given.subscriber_id, [])
        if given.subscription_id in {each.subscription_id for each in held}:
            return given.subscription_id
        fitting = [each for each in held if given.type in {None, each.type}]
        if fitting:
            return fitting[-1].subscription_id
        change, form = self._change, self._form
        type_ = given.type or form.type
        addresses = addresses_of(change, [given.subscriber_id])[given.subscriber_id]
        address_id = usual_address(change, given.subscriber_id, addresses)
        publication = publication_of(change, form.publication_id)
        subscription_id = change.new_id("subscriptions")
        change.add(
            "subscriptions",
            subscription_id=subscription_id,
            subscriber_id=given.subscriber_id,
            publication_id=form.publication_id,
            mailing_address_id=address_id,
            billing_address_id=address_id,
            issues=0,
            copies=1,
            type=type_,
            date_created=change.today,
            renew_campaign_active=1,
            begins_on=begins_on(
                publication.late_start,
                publication.newest_closed,
                publication.first_planned,
                change.today,
            ),
            commit_id=change.commit_id,
        )
        held.append(Held(subscription_id, given.subscriber_id, type_))
        self._begun.add(subscription_id)
        return subscription_id

    def _write_answers(self) -> None:
        """Write the answers into the questionnaire of the reader, unless it has newer ones."""
        days = dict(self._days)
        newest: dict[tuple[int, int], Answer] = {}
        for each in self._given:
            for field_id, answer in each.answers.items():
                key = each.subscriber_id, field_id
                if days.get(key, "") <= each.on:
                    days[key] = each.on
                    newest[key] = answer
        known = {
            key: answer
            for key, answer in newest.items()
            if key in self._days or not answer.is_empty
        }
        stored.write_answers(self._change, days, known)


def known_answers(books: Books, subscriber_id: int) -> Mapping[int, Answer]:
    """Return what is in the questionnaire of a reader, by the id of the field.

    A form shows it, since an answer that the form leaves empty is removed (:func:`add`).
    """
    with books.read() as reading:
        return stored.stored_answers(reading, subscriber_id)


def of_reader(books: Books, subscriber_id: int, publication_id: int | None = None) -> list[Shown]:
    """Return the qualifications of a reader, the newest day first: all, or of one publication.

    Raises NotFound if there is no such subscriber, or no such publication.
    """
    with books.read() as reading:
        found = stored.qualifications_of(reading, subscriber_id, publication_id)
        if not found:
            names_of(reading, subscriber_id)
        if not found and publication_id is not None:
            check_publication(reading, publication_id)
        words = stored.words_of(reading) if found else Words()
        return [
            Shown(
                each,
                words.of(each.answers),
                json.loads(each.evidence or "{}"),
                words.disqualifying_in(each.answers) if each.disqualified else (),
            )
            for each in found
        ]
