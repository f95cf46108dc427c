"""Forms of publications, their audit classes, and the request types of an account.

The functions run in an operation (``store.books.operation``) or in a reading of one.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.circulation.qualifying import (
    REQUEST_TYPES,
    UNCLASSIFIED,
    AuditClass,
    Option,
    Question,
    shown,
)
from masthead.errors import NotFound
from masthead.store.books.ids import next_ids
from masthead.store.books.issue import check_publication
from masthead.store.books.operation import Operation, Reading
from masthead.store.database import Value


class Form(NamedTuple):
    """What a publication asks those who want it free, and for how many months that is valid."""

    publication_id: int
    publication: str
    months: int
    fills: str
    type: str
    agreed_text: str | None
    questions: Sequence[Question]
    classes: Sequence[AuditClass]


class RequestType(NamedTuple):
    """A way in which qualifications come; ``is_request`` is 1 if the reader asks."""

    code: str
    name: str
    position: int
    is_request: int


class Field(NamedTuple):
    """A custom field, by its name and what readers are shown."""

    field_id: int
    name: str
    display_as: str
    type: str


def find_form(books: Reading, publication_id: int) -> Form | None:
    """Return the form of a publication, None if it has none. NotFound: there is no publication."""
    check_publication(books, publication_id)
    row = books.row_as(
        tuple[int, str, int, str, str, str | None],
        """
        SELECT f.publication_id, coalesce(p.name, ''), f.months, f.fills, f.type, f.agreed_text
        FROM qualification_forms AS f JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = f.publication_id
        WHERE f.account_id = :account_id AND f.publication_id = :publication_id
        """,
        publication_id=publication_id,
    )
    if row is None:
        return None
    return Form(*row, _questions(books, publication_id), classes_of(books, publication_id))


def form_of(books: Reading, publication_id: int) -> Form:
    """Return the form of a publication. Raises NotFound if it has none, or does not exist."""
    found = find_form(books, publication_id)
    if found is None:
        raise NotFound(
            f"publication {publication_id} has no form, so nobody can qualify for it",
            code="no_qualification_form",
            publication=publication_id,
        )
    return found


def forms(books: Reading) -> list[Form]:
    """Return the forms of all publications by the ids of these."""
    return [form_of(books, key) for key in publications(books)]


def publications(books: Reading) -> list[int]:
    """Return the ids of the publications that have a form."""
    return books.column_as(
        int,
        """
        SELECT publication_id FROM qualification_forms WHERE account_id = :account_id
        ORDER BY publication_id
        """,
    )


def _questions(books: Reading, publication_id: int) -> list[Question]:
    asked = books.rows_as(
        tuple[int, str, str, str, int, int],
        """
        SELECT q.field_id, coalesce(c.name, ''), coalesce(c.display_as, ''), c.type, q.required,
            q.allow_other
        FROM qualification_questions AS q JOIN custom_fields AS c
            ON c.account_id = :account_id AND c.field_id = q.field_id
        WHERE q.account_id = :account_id AND q.publication_id = :publication_id
        ORDER BY q.position, q.field_id
        """,
        publication_id=publication_id,
    )
    options = options_of(books)
    return [
        Question(
            field_id,
            name,
            shown(display_as, name),
            type_,
            bool(required),
            bool(other),
            tuple(options.get(field_id, ())),
        )
        for field_id, name, display_as, type_, required, other in asked
    ]


def fields(books: Reading) -> list[Field]:
    """Return the custom fields of the account by their ids."""
    return books.rows_as(
        Field,
        """
        SELECT field_id, coalesce(name, ''), coalesce(display_as, ''), type FROM custom_fields
        WHERE account_id = :account_id ORDER BY field_id
        """,
    )


def options_of(books: Reading) -> dict[int, list[Option]]:
    """Return the options of all custom fields by the field, in their order."""
    found: dict[int, list[Option]] = {}
    for field_id, key, value, display_as, disqualifies, is_active in books.rows_as(
        tuple[int, int, str, str, bool, bool],
        """
        SELECT field_id, option_id, coalesce(value, ''), coalesce(display_as, ''), disqualifier,
            active
        FROM custom_field_options WHERE account_id = :account_id
        ORDER BY field_id, coalesce("order", 0), option_id
        """,
    ):
        found.setdefault(field_id, []).append(
            Option(key, value, display_as, bool(disqualifies), bool(is_active))
        )
    return found


def classes_of(books: Reading, publication_id: int) -> list[AuditClass]:
    """Return the audit classes of a publication that are in use, in their order."""
    conditions: dict[int, dict[int, frozenset[int]]] = {}
    for class_id, field_id, ids in books.rows_as(
        tuple[int, int, str | None],
        """
        SELECT d.audit_class_id, d.field_id, d.option_ids FROM audit_classes AS c
        JOIN audit_class_conditions AS d
            ON d.account_id = :account_id AND d.audit_class_id = c.audit_class_id
        WHERE c.account_id = :account_id AND c.publication_id = :publication_id
        ORDER BY d.audit_class_id, d.field_id
        """,
        publication_id=publication_id,
    ):
        options = frozenset(int(each) for each in (ids or "").split("|") if each)
        conditions.setdefault(class_id, {})[field_id] = options
    return [
        AuditClass(key, position, code, name, bool(served), quota, conditions.get(key, {}))
        for key, position, code, name, served, quota in books.rows_as(
            tuple[int, int, str, str, int, int | None],
            """
            SELECT audit_class_id, position, code, coalesce(name, ''), served, quota
            FROM audit_classes
            WHERE account_id = :account_id AND publication_id = :publication_id
                AND position IS NOT NULL
            ORDER BY position
            """,
            publication_id=publication_id,
        )
    ]


def write_form(
    books: Operation,
    publication_id: int,
    values: Mapping[str, Value],
    questions: Sequence[tuple[int, bool, bool]] | None,
) -> None:
    """Add or change a form.

    ``questions`` are ids of fields, whether an answer is required, and whether another one than
    the options is allowed; None leaves them. A new form has the class of those who are in no other.
    """
    if find_form(books, publication_id) is None:
        books.change(
            """
            INSERT INTO qualification_forms (account_id, publication_id)
            VALUES (:account_id, :publication_id)
            """,
            publication_id=publication_id,
        )
        add_first_request_types(books)
        rest = AuditClass(0, 1, UNCLASSIFIED, "Unclassified", True, None, {})
        replace_classes(books, publication_id, [rest])
    if values:
        books.change(
            f"""
            UPDATE qualification_forms SET {", ".join(f"{name} = :{name}" for name in values)}
            WHERE account_id = :account_id AND publication_id = :publication_id
            """,
            publication_id=publication_id,
            **values,
        )
    if questions is None:
        return
    books.change(
        """
        DELETE FROM qualification_questions
        WHERE account_id = :account_id AND publication_id = :publication_id
        """,
        publication_id=publication_id,
    )
    for position, (field_id, required, other) in enumerate(questions, 1):
        books.add(
            "qualification_questions",
            publication_id=publication_id,
            field_id=field_id,
            position=position,
            required=int(required),
            allow_other=int(other),
        )
    books.write()


def replace_classes(books: Operation, publication_id: int, classes: Sequence[AuditClass]) -> None:
    """Replace the audit classes of a publication; classes with the same code stay the same.

    One that is not used any more keeps its row without a position, since qualifications name it.
    The ids and positions of ``classes`` do not count.
    """
    stored = dict(
        books.rows_as(
            tuple[str, int],
            """
            SELECT code, audit_class_id FROM audit_classes
            WHERE account_id = :account_id AND publication_id = :publication_id
            """,
            publication_id=publication_id,
        )
    )
    books.change(
        """
        DELETE FROM audit_class_conditions WHERE account_id = :account_id AND audit_class_id IN (
            SELECT c.audit_class_id FROM audit_classes AS c
            WHERE c.account_id = :account_id AND c.publication_id = :publication_id)
        """,
        publication_id=publication_id,
    )
    books.change(
        """
        UPDATE audit_classes SET position = NULL, served = 0
        WHERE account_id = :account_id AND publication_id = :publication_id
        """,
        publication_id=publication_id,
    )
    next_id = next_ids(books.connection, books.account_id, "audit_classes")
    for position, each in enumerate(classes, 1):
        key = stored.get(each.code)
        values: dict[str, Value] = {
            "position": position,
            "name": each.name,
            "served": int(each.is_served),
            "quota": each.quota,
        }
        if key is None:
            key, next_id = next_id, next_id + 1
            books.add(
                "audit_classes",
                audit_class_id=key,
                publication_id=publication_id,
                code=each.code,
                **values,
            )
        else:
            books.change(
                """
                UPDATE audit_classes SET position = :position, name = :name, served = :served,
                    quota = :quota
                WHERE account_id = :account_id AND audit_class_id = :audit_class_id
                """,
                audit_class_id=key,
                **values,
            )
        for field_id, options in sorted(each.conditions.items()):
            books.add(
                "audit_class_conditions",
                audit_class_id=key,
                field_id=field_id,
                option_ids="|".join(map(str, sorted(options))),
            )
    books.write()


def request_types(books: Reading) -> list[RequestType]:
    """Return the request types of the account in their order."""
    return books.rows_as(
        RequestType,
        """
        SELECT code, coalesce(name, ''), position, is_request FROM request_types
        WHERE account_id = :account_id ORDER BY position, request_type_id
        """,
    )


def add_first_request_types(books: Operation) -> None:
    """Add the request types that every account begins with, unless it has some."""
    if not request_types(books):
        for code, name, is_request in REQUEST_TYPES:
            add_request_type(books, code, name, is_request=bool(is_request))


def add_request_type(books: Operation, code: str, name: str, *, is_request: bool) -> None:
    """Add a request type after the others."""
    found = request_types(books)
    books.add(
        "request_types",
        request_type_id=books.new_id("request_types"),
        code=code,
        name=name,
        position=max((each.position for each in found), default=0) + 1,
        is_request=int(is_request),
    )
    books.write()
