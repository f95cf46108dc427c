"""The classes of copies that an account has, its own ones included (circulation, "Class")."""

from masthead.circulation.classes import ALL, FREE
from masthead.errors import BadInput
from masthead.store.books.operation import Reading

__all__ = ["check_class", "free_classes"]


def free_classes(books: Reading) -> list[str]:
    """Return the classes that a term without a price can have: everybody's, and the own ones."""
    rows = books.connection.rows(
        "SELECT name FROM classes WHERE account_id = :account_id AND name <> '' ORDER BY class_id",
        account_id=books.account_id,
    )
    return [*FREE, *(name for (name,) in rows if name not in ALL)]


def check_class(books: Reading, name: str) -> str:
    """Return the class of this name; raise BadInput unless a term without a price can have it."""
    known = free_classes(books)
    found = {each.lower(): each for each in known}.get(name.strip().lower())
    if found is None:
        raise BadInput(
            f"{name!r} is no class of copies: the classes are {', '.join(known)}, and `masthead "
            "catalogue class add` adds one of your own"
        )
    return found
