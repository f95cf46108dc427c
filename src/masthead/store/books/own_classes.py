"""The classes of copies that an account has, including its own (circulation, "Class")."""

from masthead.circulation.copy_classes import ALL, FREE
from masthead.contract.printable import is_name, single_spaced
from masthead.errors import BadInput
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation, Reading
from masthead.store.database import Connection

_NAME_MAX = 50


def own_classes(connection: Connection, account_id: int) -> list[str]:
    """Return the classes that the publisher has added, in the order of adding."""
    return connection.column_as(
        str,
        """
        SELECT name FROM classes WHERE account_id = :account_id AND name <> '' ORDER BY class_id
        """,
        account_id=account_id,
    )


def add_own_class(books: Operation, name: str) -> tuple[int, str]:
    """Add a class of the publisher's own; return its id and name.

    Raises BadInput for a name that is empty, too long, or taken by an existing class.
    """
    name = single_spaced(name)
    if not is_name(name, _NAME_MAX):
        raise BadInput(f"{name!r} is no class: its name has 1 to {_NAME_MAX} characters")
    if name.lower() in {each.lower() for each in _known(books, ALL)}:
        raise BadInput(f"there is a class {name.lower()!r} already: nothing was changed")
    class_id = next_ids(books.connection, books.account_id, "classes")
    books.change(
        "INSERT INTO classes (account_id, class_id, name) VALUES (:account_id, :class_id, :name)",
        class_id=class_id,
        name=name,
    )
    return class_id, name


def check_class(books: Reading, name: str) -> str:
    """Return the class of this name; raise BadInput unless a term without a price can have it."""
    memory = books.memory("classes")
    if not memory:
        memory |= {each.lower(): each for each in _known(books, FREE)}
    found: str | None = memory.get(single_spaced(name).lower())
    if found is None:
        raise BadInput(
            f"{name!r} is no class of free copies: the classes are {', '.join(memory.values())}",
            code="unknown_class",
        )
    return found


def _known(books: Reading, everybodys: tuple[str, ...]) -> tuple[str, ...]:
    own = own_classes(books.direct, books.account_id)
    return (*everybodys, *(each for each in own if each.lower() not in ALL))
