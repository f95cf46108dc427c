"""Free titles: a reader's qualifications, taking one at the telephone, and what lapses when."""

from typing import NamedTuple

from starlette.responses import Response

from masthead.books import (
    Books,
    efforts,
    qualification_forms,
    qualifications,
    requalifications,
    subscribers,
)
from masthead.books.qualification_forms import Form as QualificationForm
from masthead.books.qualifications import Added, Given
from masthead.circulation.qualifying import (
    Answer,
    answer,
    refused_answers,
    said_of,
)
from masthead.circulation.requalifying import WAYS
from masthead.console.effort_form import EffortForm, effort_pages
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.record_forms import Field
from masthead.console.roles import Action
from masthead.errors import NotFound
from masthead.web.forms import as_sentence, id_in
from masthead.web.question_fields import given_in, name_of, question_shown, values_of

_PATH = "/subscribers/{id:int}/qualifications"
_TELEPHONE = "telephone"
_EVIDENCE_MAX = 500
_SHOWN = 100
_TITLES = {"ip_address": "Address of the computer", "agreed_text": "Agreed to"}


class Entry(NamedTuple):
    """A qualification as the page shows it: its state, its answers, and its evidence."""

    shown: qualifications.Shown
    state: str
    mood: str
    facts: list[tuple[str, str]]


def of_reader(request: PageRequest) -> Response:
    """Show the qualifications of a reader with their evidence, also of a deleted one."""
    key = int(request.ids["id"])
    with request.books.snapshot() as inside:
        names = subscribers.show(inside, key).fields
        found = qualifications.of_reader(inside, key)
        forms = qualification_forms.forms(inside)
    return request.page(
        "qualifications",
        key=key,
        names=names,
        entries=[_entry(each, request.account.today) for each in found],
        forms=forms,
    )


def _entry(shown: qualifications.Shown, today: str) -> Entry:
    each = shown.qualification
    state, mood = "a later one counts", ""
    if each.disqualified:
        state, mood = ("disqualified" if each.is_current else "disqualified then"), "bad"
    elif each.is_current and not each.served:
        state, mood = "not served", "warn"
    elif each.is_current:
        state, mood = ("valid", "good") if each.valid_until >= today else ("lapsed", "warn")
    facts = [("Disqualified by", ", ".join(shown.disqualified_by)), *shown.answers]
    facts += [(_title(name), value) for name, value in shown.evidence.items()]
    facts += [("Taken by", each.taken_by or ""), ("Reference", each.external_reference or "")]
    return Entry(shown, state, mood, facts)


def _title(name: str) -> str:
    return _TITLES.get(name) or name.replace("_", " ").capitalize()


def new(request: PageRequest) -> Response:
    """Show the questions of a publication, with the answers that are known."""
    key, form = int(request.ids["id"]), _form_of(request, request.query.get("publication", ""))
    values = {"on": request.account.today, "request_type": _TELEPHONE}
    values["subscription"] = request.query.get("subscription", "")
    known = qualifications.known_answers(request.books, key)
    for each in form.questions:
        given = known.get(each.field_id, Answer())
        values |= values_of(each, given.options, given.text)
    return _shown(request, form, Form(values))


def save(request: PageRequest) -> Response:
    """Say what the answers lead to, then add the qualification."""
    key, form = int(request.ids["id"]), Form(request.form)
    asked = _form_of(request, form["publication"])
    answers = {each.field_id: answer(*given_in(each, form)) for each in asked.questions}
    words = {each.field_id: each.words for each in asked.questions}
    for wrong in refused_answers(asked.questions, answers):
        form.refuse(name_of(wrong.field_id), said_of(words[wrong.field_id], as_sentence(wrong.why)))
    day = form.day("on", "The day")
    if day is None:
        form.refuse("on", "Say on which day the reader answered.")
    evidence = {
        name: form.text(name, "This", characters_max=_EVIDENCE_MAX) for name in (_TELEPHONE, "said")
    }
    is_sure, then = bool(form["sure"]), _PATH.replace("{id:int}", str(key))
    if not form.is_good:
        return _shown(request, asked, form, 400)
    books = request.books_for("take a qualification", then)
    done: Added | None = None
    with form.refusing(), books.together(dry_run=not is_sure) as inside:
        given = Given(
            key,
            day or "",
            form["request_type"],
            answers,
            taken_by=request.operator.name,
            evidence={name: text for name, text in evidence.items() if text},
            subscription_id=id_in(form["subscription"]),
        )
        done = qualifications.add(inside, asked.publication_id, given)
    if done is None:
        return _shown(request, asked, form, 400)
    said = _said(done, asked)
    return request.go(then, said) if is_sure else _shown(request, asked, form, will=said)


def _said(done: Added, form: QualificationForm) -> str:
    name = next((each.name for each in form.classes if each.code == done.audit_class), "")
    said = f"{done.publication}: class {name or done.audit_class}, valid until {done.valid_until}."
    if done.is_disqualified:
        said += " An answer disqualifies: no copy goes out."
    elif not done.is_served:
        said += " The class gets no copies."
    elif done.is_new_subscription:
        said += " A subscription begins."
    if done.withdraws:
        said += " The subscription was cancelled: it goes on."
    return said if done.is_newest else f"{said} A qualification of a later day counts."


def _form_of(request: PageRequest, publication: str) -> QualificationForm:
    """Return the form of a publication, by its id as text. Raises NotFound if it has none."""
    key = id_in(publication)
    if key is None:
        raise NotFound("the publication has no form")
    return qualification_forms.form(request.books, key)


def _shown(
    request: PageRequest,
    asked: QualificationForm,
    form: Form,
    status: int = 200,
    *,
    will: str = "",
) -> Response:
    key = int(request.ids["id"])
    with request.books.snapshot() as inside:
        names = subscribers.names(inside, key)
        types = qualification_forms.request_types(inside)
        known = qualifications.known_answers(inside, key)
    return request.page(
        "qualification_new",
        status,
        key=key,
        names=names,
        asked=asked,
        form=form,
        will=will,
        types=[(each.code, each.name) for each in types],
        questions=[
            question_shown(
                each,
                each.options_for(known.get(each.field_id, Answer()).options),
                is_required=each.is_required,
                hint="It has to be answered." if each.is_required else "",
                other=f"Another answer to: {each.words}",
            )
            for each in asked.questions
        ],
    )


def overview(request: PageRequest) -> Response:
    """Show the free titles: form, classes and efforts, and how many readers are in each."""
    with request.books.snapshot() as inside:
        forms = qualification_forms.forms(inside)
        asks = requalifications.efforts(inside)
    counted = request.counted(
        ("free titles", request.account.today), lambda: requalifications.outlook(request.books)
    )
    found = counted.value
    return request.page(
        "qualification",
        forms=forms,
        efforts=asks,
        counted=counted,
        words=_words(forms),
        lapses=found.lapses if found else [],
        classes=found.classes if found else {},
        due={each.effort: each for each in found.due} if found else {},
    )


def lapsing(request: PageRequest) -> Response:
    """Show the readers whose copies of a title end in a month, a hundred on each page."""
    key, month = int(request.ids["id"]), request.query.get("month", "")
    day, after = request.query.get("day", ""), id_in(request.query.get("after", ""))
    with request.books.snapshot() as inside:
        form = qualification_forms.form(inside, key)
        found = requalifications.lapsing(
            inside,
            key,
            month,
            after=(day, -1 if after is None else after),
            limit=_SHOWN + 1,
        )
    return request.page(
        "lapsing",
        asked=form,
        month=month,
        readers=found[:_SHOWN],
        more=found[_SHOWN - 1] if len(found) > _SHOWN else None,
    )


def _words(forms: list[QualificationForm]) -> dict[int, list[tuple[str, str]]]:
    """Return the conditions of each class in words, by its id."""
    found = {}
    for form in forms:
        for each in form.classes:
            found[each.audit_class_id] = [
                (
                    question.words,
                    " or ".join(
                        option.words
                        for option in question.options
                        if option.option_id in each.conditions[question.field_id]
                    ),
                )
                for question in form.questions
                if question.field_id in each.conditions
            ]
    return found


def _known(books: Books, key: int) -> dict[int, str]:
    return {each.effort: each.when for each in requalifications.efforts(books, key)}


def _put(books: Books, key: int, number: int, form: Form) -> None:
    days = form.number("days_before", "The days")
    way = next((each for each in WAYS if each == form["way"]), None)
    if days is None:
        form.refuse("days_before", "Say how many days before the end it is due.")
    if way is None:
        form.refuse("way", "Say in which way readers are asked.")
    elif days is not None and form.is_good:
        requalifications.set_effort(books, requalifications.Effort(key, number, days, way))


pages = [
    get("/qualification", overview),
    get("/qualification/{id:int}/lapses", lapsing),
    get(_PATH, of_reader),
    get("/subscribers/{id:int}/qualify", new, Action.SERVE),
    post("/subscribers/{id:int}/qualify", save, Action.SERVE),
    *effort_pages(
        EffortForm(
            efforts.REQUALIFICATION,
            "/qualification/{id:int}/effort",
            "/qualification",
            "Asking to qualify again",
            "effort",
            "A late reader gets the last effort that is due, never an earlier one.",
            (
                Field("days_before", "Days before the end", "number"),
                Field("way", "Way", "choice", "", tuple(WAYS.items())),
            ),
            lambda books, key: qualification_forms.form(books, key).publication,
            _known,
            lambda _books: {},
            _put,
        )
    ),
]
