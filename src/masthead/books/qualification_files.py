"""Adding the qualifications of a file: all of them, or none.

(decisions, "Qualifications from files".)
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.orders import Newcomer, described
from masthead.books.qualification_forms import question_named, read_answers
from masthead.books.qualifications import Given, add_many, refused_of
from masthead.circulation.ordering import Person, RefusedOrder
from masthead.circulation.qualifying import SEVERAL, answers_text
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.books import order_people
from masthead.store.books import qualifications as stored
from masthead.store.books.extendable_subscriptions import look_up_usual_addresses
from masthead.store.books.operation import Operation
from masthead.store.books.qualification_forms import Form, form_of

_TOGETHER = 500
"""The number of rows that are looked up and written together."""

_COLUMNS = {"on": "qualified_on", "reference": "external_reference"}
"""The columns of a file for fields of a qualification that have another name."""


class AnswerCell(NamedTuple):
    """What a file has for a field of the form: the whole cell, and its ``parts``.

    The parts are the answers to a question that takes several.
    """

    field: str
    whole: str
    parts: Sequence[str]


class FileRow(NamedTuple):
    """A row of a file: who answered what on which day."""

    line: int
    person: Person
    on: str
    request_type: str
    answers: Sequence[AnswerCell]
    taken_by: str | None
    evidence: Mapping[str, str]
    type: str | None
    reference: str | None


class Imported(NamedTuple):
    """How many qualifications were added, and how many were there already.

    ``readers`` are new, and of the added ones ``older`` do not count, since a later one is there.
    ``newcomers`` are new readers who look like an existing one, each with the line of the file; the
    first ones have a line about each such reader.
    """

    publication_id: int
    publication: str
    added: int
    unchanged: int
    readers: int
    older: int
    newcomers: Sequence[tuple[int, Newcomer]] = ()

    @property
    def sentence(self) -> str:
        """The counts."""
        title = f"publication {self.publication_id} ({self.publication})"
        if not (self.added or self.unchanged):
            return f"{title}: nothing changed: the file has no qualifications"
        if not self.added:
            there = counted(self.unchanged, "qualification was", "qualifications were")
            return f"{title}: nothing changed: {there} there already"
        said = f"{title}: {counted(self.added, 'qualification was', 'qualifications were')} added"
        said += f", of {counted(self.readers, 'new reader')}"
        if self.older:
            said += f"; for {self.older} of them a later one counts"
        if self.unchanged:
            said += f"; {self.unchanged} were there already"
        return said


class RefusedRows(BadInput):
    """Some rows are refused; ``refused`` has the column and a sentence by the line."""

    def __init__(self, refused: Mapping[int, tuple[str, str]]) -> None:
        super().__init__("; ".join(sentence for _, sentence in refused.values()))
        self.refused = refused


def import_rows(
    books: Books,
    publication_id: int,
    rows: Sequence[FileRow],
    *,
    described_max: int,
    dry_run: bool = False,
) -> Imported:
    """Add the qualifications of a file that are not there yet, all of them or none.

    A reader is found by id, renewal code, or email address and name; anybody else is new. A row is
    there already if it has the reference of one, or the reader, the day, the request type and the
    answers. The first ``described_max`` newcomers get a line about each reader whom they look like.
    Raises NotFound for a publication without a form, RefusedRows if any row is refused.
    """
    with books.change(dry_run=dry_run) as change:
        importing = _Importing(change, form_of(change, publication_id))
        for first in range(0, len(rows), _TOGETHER):
            importing.take(rows[first : first + _TOGETHER])
        done = importing.done(described_max)
        if done.added:
            change.say(done.sentence)
    return done


class _Importing:
    """The rows of a file so far; when one is refused, nothing more is written."""

    def __init__(self, change: Operation, form: Form) -> None:
        self._change = change
        self._form = form
        self._first_new = change.new_id("subscribers")
        self._refused: dict[int, tuple[str, str]] = {}
        self._readers: set[int] = set()
        self._newcomers: list[tuple[int, Newcomer]] = []
        self._added = self._unchanged = self._older = 0

    def take(self, rows: Sequence[FileRow]) -> None:
        """Add some rows, unless they are there."""
        known = stored.referred(
            self._change, self._form.publication_id, [each.reference for each in rows]
        )
        ids = {key for each in rows if (key := each.person.subscriber_id) is not None}
        # The answers of a reader who was erased are not known any more.
        erased = {
            said[:3]
            for said in stored.said_by(self._change, self._form.publication_id, ids)
            if not said[3]
        }
        order_people.look_up(
            self._change, [each.person for each in rows if each.reference not in known]
        )
        look_up_usual_addresses(self._change, [*self._change.memory("addresses")])
        given: dict[int, Given] = {}
        for row in rows:
            try:
                if (found := self._given(row, known, erased)) is not None:
                    given[row.line] = found
            except RefusedOrder as error:
                self._refused[row.line] = error.field, str(error)
            except BadInput as error:
                self._refused[row.line] = str(error.values.get("field", "answers")), str(error)
        self._change.write()
        self._add(given)

    def _given(
        self,
        row: FileRow,
        known: dict[str, tuple[str, str, str | None]],
        erased: Collection[tuple[int | None, str, str]],
    ) -> Given | None:
        """Return what a row says, None if it is there by its reference, or of an erased reader."""
        answers = read_answers(self._form, self._said(row.answers))
        said = row.on, row.request_type, answers_text(answers)
        if row.reference is not None and row.reference in known:
            if known[row.reference] not in (said, (*said[:2], None)):
                raise BadInput(
                    f"{row.reference!r} was loaded with another day, request type or answer: what "
                    "was added is never changed",
                    field="external_reference",
                )
            self._unchanged += 1
            return None
        if row.reference is not None:
            known[row.reference] = said
        person = row.person
        if (person.subscriber_id, row.on, row.request_type) in erased:
            self._unchanged += 1
            return None
        if row.reference is None and not (
            person.subscriber_id is not None or person.renewal_code or person.email
        ):
            raise BadInput(
                "name the reader by id, renewal code or email address, or give a reference: "
                "otherwise the same file again would add the reader again",
                field="email",
            )
        reader = order_people.resolve(self._change, person)
        if reader.resembling:
            self._newcomers.append((row.line, Newcomer(person.name, None, reader.resembling)))
        return Given(
            reader.subscriber_id,
            row.on,
            row.request_type,
            answers,
            row.taken_by,
            row.evidence,
            row.type,
            row.reference,
            address_id=reader.named_address_id,
        )

    def _said(self, cells: Sequence[AnswerCell]) -> Iterator[tuple[str, str]]:
        """Yield pairs of a field and an answer: one of a cell, or each if it can have several."""
        for field, whole, parts in cells:
            is_several = question_named(self._form, field).type == SEVERAL
            yield from ((field, each) for each in (parts if is_several else [whole]))

    def _add(self, given: Mapping[int, Given]) -> None:
        readers = {each.subscriber_id for each in given.values()}
        known = stored.said_by(self._change, self._form.publication_id, readers)
        new: dict[int, Given] = {}
        for line, each in given.items():
            said = each.subscriber_id, each.on, each.request_type, answers_text(each.answers)
            if each.reference is None and said in known:
                self._unchanged += 1
                continue
            known.add(said)
            new[line] = each
        lines, those = [*new], [*new.values()]
        for error in refused_of(self._change, self._form.publication_id, those):
            field = str(error.values["field"])
            column = _COLUMNS.get(field, field)
            self._refused.setdefault(lines[error.number], (column, str(error)))
        if self._refused or not those:
            return
        added = add_many(self._change, self._form.publication_id, those)
        self._added += len(added)
        self._older += sum(not each.is_newest for each in added)
        self._readers |= {each for each in readers if each >= self._first_new}

    def done(self, described_max: int) -> Imported:
        """Return what was added. Raises RefusedRows if a row is refused."""
        if self._refused:
            raise RefusedRows(self._refused)
        first = [each for _, each in self._newcomers[:described_max]]
        for position, each in enumerate(described(self._change, first)):
            self._newcomers[position] = self._newcomers[position][0], each
        return Imported(
            self._form.publication_id,
            self._form.publication,
            self._added,
            self._unchanged,
            len(self._readers),
            self._older,
            self._newcomers,
        )
