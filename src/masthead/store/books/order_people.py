"""The people of an order: existing subscribers, and new ones, with their addresses.

Every look-up uses an index. The functions run in an operation (``store.books.operation``).
"""

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.circulation.addresses import lacking, refusal
from masthead.circulation.ordering import Person, RefusedOrder
from masthead.contract.records import TABLES_BY_NAME
from masthead.store.books.extendable_subscriptions import usual_address
from masthead.store.books.ids import of_all
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.reader_lookup import addresses_of, readers_by, remember
from masthead.store.books.similar_readers import Resembling, resembling
from masthead.store.books.similar_readers import look_up as look_up_resembling
from masthead.store.books.subscription_addresses import add_address
from masthead.store.search_filters import ascii_lower
from masthead.store.staging import DERIVED

_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without I, O, 0 and 1, which readers confuse on paper."""

_CODE_LENGTH = 5
_CODES = 50
"""How many codes are made at once; those that exist already are not used."""

_COLUMNS = {column.name: column.kind for column in TABLES_BY_NAME["subscribers"].columns}
_ADDRESS_COLUMNS = {column.name: column.kind for column in TABLES_BY_NAME["addresses"].columns}


class Resolved(NamedTuple):
    """A subscriber, the address that the order names, and the usual one; None if there is none.

    ``company`` is that of the address in use. A new subscriber looks like those in ``resembling``.
    """

    subscriber_id: int
    named_address_id: int | None
    usual_address_id: int | None
    company: str
    resembling: Sequence[Resembling] = ()

    @property
    def address_id(self) -> int | None:
        """The address that the order names, or else the usual one."""
        return self.usual_address_id if self.named_address_id is None else self.named_address_id


def resolve(books: Reading, person: Person, prefix: str = "") -> Resolved:
    """Return the subscriber and the address; add what is missing (circulation, "Who is who").

    ``prefix`` is that of the person's columns in a file of orders, for messages. Raises
    RefusedOrder for a subscriber who does not exist or is deleted, a person without any data, an
    address of another subscriber, and a part of an address.
    """
    _check_texts(person, prefix)
    subscriber_id = _by_id(books, person, prefix)
    if subscriber_id is None:
        subscriber_id = _by_email(books, person, prefix)
    alike: Sequence[Resembling] = ()
    if subscriber_id is None:
        adding = _adding(books)
        alike = resembling(adding, person)
        subscriber_id = _add(adding, person, prefix)
    addresses = addresses_of(books, [subscriber_id])[subscriber_id]
    named = _named(books, person, prefix, subscriber_id, addresses)
    usual = usual_address(books, subscriber_id, addresses) if named is None else None
    in_use = addresses_of(books, [subscriber_id])[subscriber_id]
    company = in_use.get((usual if named is None else named) or 0, {}).get("company") or ""
    return Resolved(subscriber_id, named, usual, company, alike)


def _check_texts(person: Person, prefix: str) -> None:
    """Raise RefusedOrder for a text that the columns cannot hold."""
    own = {name: getattr(person, name) for name in ("email", "first_name", "last_name")}
    for given, kinds in ((own, _COLUMNS), (person.address, _ADDRESS_COLUMNS)):
        for name, text in given.items():
            try:
                if text:
                    kinds[name].parse(text)
            except ValueError as error:
                raise RefusedOrder(f"{prefix}{name}", f"{prefix}{name} {error}") from error


def look_up(books: Operation, people: Iterable[Person]) -> None:
    """Look up many people with few statements, for the calls of :func:`resolve` that follow."""
    people = list(people)
    emails = [ascii_lower(each.email) for each in people if each.email]
    codes = [ascii_lower(each.renewal_code) for each in people if each.renewal_code]
    ids = [each.subscriber_id for each in people if each.subscriber_id is not None]
    found = readers_by(books, "email_lower", emails)
    ids += [each.subscriber_id for email in emails for each in found[email]]
    found = readers_by(books, "renewal_code_lower", codes)
    ids += [each.subscriber_id for code in codes for each in found[code]]
    found = readers_by(books, "subscriber_id", ids)
    kept = [one.merged_into for each in ids for one in found[each] if one.merged_into is not None]
    readers_by(books, "subscriber_id", kept)
    addresses_of(books, [*ids, *kept])
    named = (each.subscriber_id is not None or each.renewal_code for each in people)
    look_up_resembling(
        books, [each for each, is_named in zip(people, named, strict=True) if not is_named]
    )


def _by_id(books: Reading, person: Person, prefix: str) -> int | None:
    """Return the subscriber with the id or renewal code; for a merged one, the kept one."""
    code = ascii_lower(person.renewal_code)
    if person.subscriber_id is not None:
        found = readers_by(books, "subscriber_id", [person.subscriber_id])[person.subscriber_id]
        name = "subscriber_id"
    elif code:
        found = readers_by(books, "renewal_code_lower", [code])[code]
        name = "renewal_code"
    else:
        return None
    if not found and name == "renewal_code":
        raise RefusedOrder(
            f"{prefix}{name}", f"no subscriber has the renewal code {person.renewal_code!r}"
        )
    if not found:
        raise RefusedOrder(
            f"{prefix}{name}",
            f"account {books.account_id} has no subscriber {person.subscriber_id}",
            code="unknown_subscriber",
        )
    (reader,) = found
    if code and code != reader.renewal_code_lower:
        raise RefusedOrder(
            f"{prefix}renewal_code",
            f"{reader_named(books, reader.subscriber_id)} does not have the renewal code "
            f"{person.renewal_code!r}",
        )
    named = reader_named(books, reader.subscriber_id) if reader.delete_date is not None else ""
    said = f"{named} was deleted on"
    if reader.merged_into is not None:
        (reader,) = readers_by(books, "subscriber_id", [reader.merged_into])[reader.merged_into]
        said = f"{named} was merged into another reader, who was deleted on"
    if reader.delete_date is not None:
        raise RefusedOrder(f"{prefix}{name}", f"{said} {reader.delete_date[:10]}")
    return reader.subscriber_id


def _by_email(books: Reading, person: Person, prefix: str) -> int | None:
    """Return the first subscriber with this email address and the same name, or None.

    The first and last names that are given must be the same. A person without a name but with a
    company is an organisation with that company in an address. Unless both names are given, the
    subscriber must be the only one; otherwise raises RefusedOrder.
    """
    if not person.email:
        return None
    email = ascii_lower(person.email)
    names = person.first_name.casefold(), person.last_name.casefold()
    same = sorted(
        each.subscriber_id
        for each in readers_by(books, "email_lower", [email])[email]
        if each.delete_date is None
        and all(
            not name or name == (has or "")
            for name, has in zip(
                names, (each.first_name_folded, each.last_name_folded), strict=True
            )
        )
    )
    company = (person.address.get("company") or "").casefold()
    if company and not any(names):
        addresses = addresses_of(books, same)
        return next((key for key in same if company in _companies(addresses[key])), None)
    if len(same) > 1 and not all(names):
        raise RefusedOrder(
            f"{prefix}email",
            f"{len(same)} readers have this email address: choose one of them, or give the first "
            "and the last name",
            code="several_readers",
        )
    return same[0] if same else None


def _companies(addresses: Mapping[int, Mapping[str, str]]) -> set[str]:
    """Return the companies in addresses, in lower case."""
    return {each.get("company", "").casefold() for each in addresses.values()}


def _add(books: Operation, person: Person, prefix: str) -> int:
    """Add a subscriber with a new renewal code; return the id."""
    if not person.is_named:
        raise RefusedOrder(
            f"{prefix}subscriber_id",
            f"nobody {'gets' if prefix else 'pays for'} it: name a subscriber by the id, or "
            "somebody new by email address, last name or company",
        )
    subscriber_id = books.new_id("subscribers")
    values: dict[str, int | str | None] = {
        "subscriber_id": subscriber_id,
        "renewal_code": _new_code(books),
        "email": person.email or None,
        "first_name": person.first_name or None,
        "last_name": person.last_name or None,
        "commit_id": books.commit_id,
        "custom_fields_commit_id": books.commit_id,
    }
    for name, (source, make) in DERIVED["subscribers"].items():
        values[name] = make(values.get(source))
    remember(books, books.add("subscribers", **values))
    return subscriber_id


def _new_code(books: Operation) -> str:
    """Return an unused renewal code."""
    codes = books.memory("renewal codes")
    while not codes:
        made = {
            "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
            for _ in range(_CODES)
        }
        taken = _taken(books, {ascii_lower(each) for each in made})
        codes |= {each: each for each in made if ascii_lower(each) not in taken}
    return str(codes.popitem()[0])


def _taken(books: Operation, codes: Collection[str]) -> set[str]:
    """Return those of the codes, in lower case, that subscribers have.

    A reader's connection does not see the codes of others: there, a function answers.
    """
    if books.direct.reader_id is not None:
        sql = of_all("taken_codes(l.account_id, :codes)")
        values = {"codes": " ".join(codes)}
    else:
        values = {f"v{number}": each for number, each in enumerate(codes)}
        sql = f"""
            SELECT renewal_code_lower FROM subscribers
            WHERE account_id = :account_id AND renewal_code_lower IN (:{", :".join(values)})
            """
    return set(books.direct.column_as(str, sql, account_id=books.account_id, **values))


def _named(
    books: Reading,
    person: Person,
    prefix: str,
    subscriber_id: int,
    addresses: Mapping[int, Mapping[str, str]],
) -> int | None:
    """Return the address that the order names; add it unless the subscriber has it."""
    if person.address_id is not None:
        if person.address_id not in addresses:
            raise RefusedOrder(
                f"{prefix}address_id",
                f"{reader_named(books, subscriber_id)} has no such address",
                code="unknown_address",
                subscriber=subscriber_id,
            )
        return person.address_id
    given = {name: text for name, text in person.address.items() if text}
    is_its_name = set(given) == {"company"}
    if not given or (is_its_name and given["company"].casefold() in _companies(addresses)):
        return None
    said = refusal(given, addresses.values())
    if said and (addresses or not is_its_name):
        raise RefusedOrder(f"{prefix}{lacking(given, addresses.values())[0]}", said)
    names = {"first_name": person.first_name, "last_name": person.last_name}
    if not any(given.get(name) for name in ("first_name", "last_name", "company")):
        given |= {name: text for name, text in names.items() if text}
    for address_id in sorted(addresses, reverse=True):
        if _is_same(given, addresses[address_id]):
            return address_id
    return add_address(_adding(books), subscriber_id, given)


def _adding(books: Reading) -> Operation:
    """Return the operation that adds what a person lacks; who only asks a price lacks nothing."""
    assert isinstance(books, Operation)
    return books


def _is_same(given: Mapping[str, str], stored: Mapping[str, str]) -> bool:
    """Return whether an address has the given fields, and no others except a name."""
    names = {"first_name", "last_name"}
    return all(stored.get(name) == text for name, text in given.items()) and not (
        set(stored) - set(given) - (names if not names & set(given) else set())
    )
