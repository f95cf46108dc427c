"""The operations as requests: their path and parameters, and how the response body is decoded.

``sync.py`` and ``asynchronous.py`` send them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

from msgspec import Struct

from masthead.contract.decoding import ReadsRecord, read_record
from masthead.contract.kinds import Bool, Integer, Text
from masthead.contract.operations import (
    DELETIONS,
    DIGEST,
    ENTITIES,
    ENTITLEMENTS,
    LIMIT_MAX,
    OPERATIONS,
    SNAPSHOT,
    Entity,
    Operation,
)
from masthead.contract.shapes import (
    Account,
    AuthenticatedSubscriber,
    CustomFieldAnswer,
    CustomFieldDefinition,
    EntitledReader,
    Order,
    Subscriber,
    Subscription,
)
from masthead.contract.subscription_types import SubscriptionType
from masthead.errors import BadInput

ALL_ENTITIES = tuple(entity.name for entity in ENTITIES)
"""The names of all entities of the change feed."""

SINCE_PATHS = {OPERATIONS["changes"].path, DELETIONS.path}
"""The paths of requests with ``changed_since``, a time that may be too long ago."""

Result = TypeVar("Result")
Shape = TypeVar("Shape", bound=Struct)


class SubscriptionFilters(TypedDict, total=False):
    """The filters of :meth:`masthead.Client.list_subscriptions` (interface, operation 7)."""

    campaign_active: bool
    copies: int
    issues_left: int
    limit: int
    max_copies: int
    max_issues_left: int
    min_copies: int
    min_issues_left: int
    publication_id: int
    subscriber_id: int
    type: SubscriptionType


class SubscriberFilters(TypedDict, total=False):
    """The filters of :meth:`masthead.Client.search_subscribers` (interface, operation 8)."""

    email: str
    first_name: str
    last_name: str
    limit: int
    renewal_code: str
    source: str


class EntityDigest(NamedTuple):
    """The number of an entity's records, and their digest (decisions, "Digest")."""

    records: int
    digest: str


class Request(NamedTuple, Generic[Result]):
    """A GET request; ``read`` makes the result from the decoded JSON, or raises ValueError.

    No message may contain one of the ``secrets``. ``url`` replaces ``path`` after a redirect, or
    for the next page of a list. ``takes_long``: the service may need any time, and sends spaces
    meanwhile. ``in_body``: the parameters are a form in the body, so that no log of addresses on
    the way gets them. ``read_each`` is as ``read`` for a list whose records are read with another
    function.
    """

    path: str
    parameters: Mapping[str, str]
    read: Callable[[Any], Result]
    secrets: tuple[str, ...] = ()
    url: str | None = None
    takes_long: bool = False
    in_body: bool = False
    read_each: Callable[[Any, ReadsRecord], Result] | None = None

    def __repr__(self) -> str:
        """Show no parameters, because they can hold a password."""
        return f"<Request {self.path}>"


class PagedRequest(NamedTuple, Generic[Result]):
    """The request for a list's first page; ``limit`` is the maximum of records on all pages."""

    first: Request[list[Result]]
    limit: int | None


def list_accounts() -> Request[list[Account]]:
    """Request operation 1."""
    return _many("list_accounts", Account)._replace(read_each=None)


def get_account(account_id: int) -> Request[Account]:
    """Request operation 2."""
    return _request("get_account", _one(Account, "account"), account_id=account_id)


def authenticate(login: str, password: str) -> Request[AuthenticatedSubscriber | None]:
    """Request operation 3."""
    read = partial(_read_login, AuthenticatedSubscriber, "subscribers")
    request = _request("authenticate_subscriber", read)
    return request._replace(
        parameters={"login": login, "password": password}, secrets=(password, login)
    )


def entitlements(
    login: str | None, password: str | None, code: str | None
) -> Request[EntitledReader | None]:
    """Request the entitlements of a reader, an extension of Masthead.

    Raises BadInput unless a code alone or a login with a password is given.
    """
    given = {"login": login, "password": password, "code": code}
    parameters = {name: value for name, value in given.items() if value is not None}
    if parameters.keys() not in ({"login", "password"}, {"code"}):
        raise BadInput("give login and password, or code alone")
    return Request(
        ENTITLEMENTS.path,
        parameters,
        partial(_read_login, EntitledReader, str(ENTITLEMENTS.envelope)),
        secrets=tuple(parameters.values()),
        in_body=True,
    )


def _read_login(shape: type[Shape], envelope: str, body: Any) -> Shape | None:
    said = _member(body, "authenticated")
    try:
        is_authenticated = Bool().read(said)
    except (ValueError, TypeError):
        raise ValueError("'authenticated' is neither true nor false") from None
    return read_record(shape, _member(body, envelope)) if is_authenticated else None


def changes(changed_since: datetime | str, entities: Iterable[str]) -> Request[None]:
    """Request operation 4, whose response is read as a stream (``readers.py``).

    A datetime is rounded down to seconds, as the interface has no fractions. Raises BadInput for a
    datetime without a zone.
    """
    return _since(OPERATIONS["changes"], changed_since, entities)


def deletions(changed_since: datetime | str, entities: Iterable[str]) -> Request[None]:
    """Request the deletions, an extension of Masthead, in the same way as operation 4."""
    return _since(DELETIONS, changed_since, entities)


def snapshot(entities: Iterable[str]) -> Request[None]:
    """Request the snapshot, an extension of Masthead, in the form of operation 4."""
    return Request(SNAPSHOT.path, {"entities": ",".join(entities)}, _unread)


def digest(entities: Iterable[str]) -> Request[dict[str, EntityDigest]]:
    """Request the digest, an extension of Masthead."""
    found = entities_of(list(entities))

    def read(body: Any) -> dict[str, EntityDigest]:
        members = {entity.name: _member(body, entity.key) for entity in found}
        try:
            return {
                name: EntityDigest(
                    Integer().read(_member(member, "count")),
                    Text().read(_member(member, "digest")),
                )
                for name, member in members.items()
            }
        except (TypeError, ArithmeticError):
            raise ValueError("a digest has no count, or is no text") from None

    parameters = {"entities": ",".join(entity.name for entity in found)}
    return Request(DIGEST.path, parameters, read, takes_long=True)


def get_custom_field_answers(subscriber_id: int) -> Request[list[CustomFieldAnswer]]:
    """Request operation 5."""
    request = _many("get_custom_field_answers", CustomFieldAnswer, subscriber_id=subscriber_id)
    return request._replace(read_each=None)  # all answers are one record of the change feed


def list_custom_fields() -> Request[list[CustomFieldDefinition]]:
    """Request operation 6."""
    return _many("list_custom_fields", CustomFieldDefinition)


def list_subscriptions(filters: SubscriptionFilters) -> PagedRequest[Subscription]:
    """Request operation 7."""
    return _paged("list_subscriptions", Subscription, filters, SubscriptionFilters)


def search_subscribers(filters: SubscriberFilters) -> PagedRequest[Subscriber]:
    """Request operation 8."""
    return _paged("search_subscribers", Subscriber, filters, SubscriberFilters)


def count(name: str) -> Request[int]:
    """Request a list with a limit of 1 and return how many records it has.

    More than one: the service has not read the limit.
    """
    envelope = str(OPERATIONS[name].envelope)
    request = _request(name, lambda body: len(_member(body, envelope)))
    return request._replace(parameters={"limit": "1"})


def get_order(order_id: int) -> Request[Order]:
    """Request operation 9."""
    return _request("get_order", lambda body: read_record(Order, body), order_id=order_id)


def download_mailing_list(mailing_list_id: int, *, download: bool) -> Request[None]:
    """Request operation 10, whose response is read as a stream (``readers.py``)."""
    request = _request("download_mailing_list", _unread, mailing_list_id=mailing_list_id)
    return request._replace(parameters={"download": "true"}) if download else request


def entities_of(names: Sequence[str]) -> list[Entity]:
    """Return the entities with these names; raises BadInput for unknown names and for no name."""
    by_name = {entity.name: entity for entity in ENTITIES}
    if not names:
        raise BadInput(f"entities: name at least one of {', '.join(by_name)}")
    try:
        return [by_name[name] for name in names]
    except KeyError as error:
        raise BadInput(
            f"entities: there is no {error.args[0]!r}; the names are {', '.join(by_name)}"
        ) from None


def _since(
    operation: Operation, changed_since: datetime | str, entities: Iterable[str]
) -> Request[None]:
    if isinstance(changed_since, datetime):
        if changed_since.utcoffset() is None:
            raise BadInput("changed_since: a time without a zone can mean any of many")
        changed_since = changed_since.astimezone(UTC).isoformat(timespec="seconds")
    parameters = {"changed_since": changed_since, "entities": ",".join(entities)}
    return Request(operation.path, parameters, _unread)


def _request(name: str, read: Callable[[Any], Result], **ids: int) -> Request[Result]:
    for parameter, value in ids.items():
        if not isinstance(value, int):  # text could change the path
            raise BadInput(f"{parameter}: not an int")
    return Request(OPERATIONS[name].path.format(**ids), {}, read)


def _many(name: str, shape: type[Shape], **ids: int) -> Request[list[Shape]]:
    envelope = OPERATIONS[name].envelope

    def read(body: Any, read_one: ReadsRecord = read_record) -> list[Shape]:
        records = _member(body, envelope) if envelope else body
        if not isinstance(records, list):
            raise ValueError(f"{envelope or 'the response'} is not a JSON array")
        found = (read_one(shape, record) for record in records)
        return [record for record in found if record is not None]

    return _request(name, read, **ids)._replace(read_each=read)


def _one(shape: type[Shape], envelope: str) -> Callable[[Any], Shape]:
    return lambda body: read_record(shape, _member(body, envelope))


def _paged(
    name: str,
    shape: type[Shape],
    filters: SubscriptionFilters | SubscriberFilters,
    allowed: type[SubscriptionFilters | SubscriberFilters],
) -> PagedRequest[Shape]:
    if unknown := filters.keys() - allowed.__annotations__.keys():
        # A service may ignore unknown parameters, and return all records.
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
    parameters = {filter_: _parameter(filter_, value) for filter_, value in filters.items()}
    limit = filters.get("limit")
    if limit is not None:
        if limit < 1:
            raise BadInput("limit: not a whole number of 1 or more")
        parameters["limit"] = str(min(limit, LIMIT_MAX))
    return PagedRequest(_many(name, shape)._replace(parameters=parameters), limit)


def _parameter(name: str, value: object) -> str:
    if value is None:
        raise BadInput(f"{name}: None is no filter; leave it out to find all")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _member(body: Any, name: str) -> Any:
    if not isinstance(body, dict) or name not in body:
        raise ValueError(f"there is no {name!r}")
    return body[name]


def _unread(_body: Any) -> None:
    return
