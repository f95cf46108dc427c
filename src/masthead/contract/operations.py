"""The ten operations of the interface: paths, parameters, shapes of the responses, limits.

The handlers in ``masthead.api``, the client and the OpenAPI document are built on these.
"""

import re
from typing import Any, NamedTuple

from masthead.contract import shapes
from masthead.contract.kinds import Bool, Identifier, Integer, Kind, OneOf, Text
from masthead.contract.subscription_types import TYPES

JSON = "application/json"
NDJSON = "application/x-ndjson"
"""JSON in lines: one value per line."""

LIMIT_MAX = 100
"""The maximum and the default number of rows of a list."""


class Limit(Integer):
    """The number of rows to return; greater numbers are lowered to the maximum."""

    word = "integer"
    _digits = re.compile(r"[0-9]+")

    def parse(self, text: str) -> int:
        """Return the number of rows, 1 to :data:`LIMIT_MAX`."""
        if not self._digits.fullmatch(text) or not (digits := text.lstrip("0")):
            raise ValueError("not a whole number of 1 or more")
        return LIMIT_MAX if len(digits) > len(str(LIMIT_MAX)) else min(int(digits), LIMIT_MAX)

    def schema(self) -> dict[str, Any]:
        """Return a positive integer without a maximum, since greater ones are lowered."""
        return {"type": "integer", "minimum": 1, "default": LIMIT_MAX}


class Parameter(NamedTuple):
    """A request parameter."""

    name: str
    kind: Kind
    meaning: str
    required: bool = False


class Operation(NamedTuple):
    """One GET operation.

    ``number`` is its number in the interface, None for an extension. ``response`` is the shape
    of the response's records, ``envelope`` the key that holds them (None: they are the whole body),
    and ``many`` says whether they are a list. The body of operation 3 has a further key.
    ``response`` is None for responses with a key for each of some :data:`ENTITIES`.
    ``media_types`` are those of the response; the client's ``Accept`` chooses one, and the first
    is the default.
    """

    number: int | None
    name: str
    path: str
    summary: str
    response: type | None
    envelope: str | None = None
    many: bool = False
    parameters: tuple[Parameter, ...] = ()
    media_types: tuple[str, ...] = (JSON,)


class Entity(NamedTuple):
    """An entity of the change feed: its name in requests, its key and shape in responses."""

    name: str
    key: str
    shape: type


ENTITIES = (
    Entity("customfields", "custom_fields", shapes.AnswerRecord),
    Entity("subscriptions", "subscriptions", shapes.ChangedSubscription),
    Entity("subscribers", "subscribers", shapes.ChangedSubscriber),
    Entity("addresses", "addresses", shapes.Address),
    Entity("purchases", "purchases", shapes.Purchase),
    Entity("listdownloads", "list_downloads", shapes.ListDownload),
    Entity("orders", "orders", shapes.Order),
)

_ENTITIES = Parameter(
    "entities",
    Text(),
    "The names of the entities, separated by commas, of: "
    + ", ".join(entity.name for entity in ENTITIES)
    + ".",
    required=True,
)
_CHANGED_SINCE = Parameter(
    "changed_since",
    Text(),
    "The time since when, in ISO 8601 with an offset from UTC. Pass on the "
    "`Masthead-Changes-Through` of the previous response as it is.",
    required=True,
)
_LIMIT = Parameter(
    "limit",
    Limit(),
    f"The number of rows to return, at most {LIMIT_MAX}; a greater number is lowered to that.",
)
_AFTER = Parameter(
    "after",
    Identifier(),
    "Only rows with a greater id: pass the last id of a page to get the next one. This is an "
    "extension of the interface.",
)
_SEARCH = " The whole value counts, in any letter case; a `*` at its end finds all that begin so."

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            1,
            "list_accounts",
            "/2/accounts/",
            "List accounts",
            shapes.Account,
            envelope="accounts",
            many=True,
        ),
        Operation(
            2,
            "get_account",
            "/2/accounts/{account_id}/",
            "Get one account",
            shapes.Account,
            envelope="account",
        ),
        Operation(
            3,
            "authenticate_subscriber",
            "/2/subscribers/authenticate/",
            "Check a subscriber's login",
            shapes.AuthenticatedSubscriber,
            envelope="subscribers",
            parameters=(
                Parameter("login", Text(), "The subscriber's email address or renewal code."),
                Parameter(
                    "password",
                    Text(),
                    "The password, if `login` is an email address. If it is a renewal code, the "
                    "postal code of one of the subscriber's addresses.",
                ),
            ),
        ),
        Operation(
            4,
            "changes",
            "/2/cdc",
            "Change feed: everything since a time",
            None,
            parameters=(_CHANGED_SINCE, _ENTITIES),
        ),
        Operation(
            5,
            "get_custom_field_answers",
            "/2/customfields/{subscriber_id}",
            "Custom field answers of a subscriber",
            shapes.CustomFieldAnswer,
            many=True,
        ),
        Operation(
            6,
            "list_custom_fields",
            "/2/customfields/",
            "List custom field definitions",
            shapes.CustomFieldDefinition,
            many=True,
        ),
        Operation(
            7,
            "list_subscriptions",
            "/2/subscriptions/",
            "List subscriptions",
            shapes.Subscription,
            envelope="subscriptions",
            many=True,
            parameters=(
                Parameter(
                    "campaign_active",
                    Bool(),
                    "`true`: only subscriptions that automated renewal campaigns may write to. "
                    "`false`: only the others.",
                ),
                Parameter("copies", Integer(), "Only subscriptions of exactly so many copies."),
                Parameter(
                    "issues_left",
                    Integer(),
                    "Only subscriptions with exactly so many issues left; `-1` finds those "
                    "that are unlimited.",
                ),
                _LIMIT,
                Parameter("max_copies", Integer(), "Only subscriptions of at most so many copies."),
                Parameter(
                    "max_issues_left",
                    Integer(),
                    "Only subscriptions with at most so many issues left; never unlimited ones.",
                ),
                Parameter(
                    "min_copies", Integer(), "Only subscriptions of at least so many copies."
                ),
                Parameter(
                    "min_issues_left",
                    Integer(),
                    "Only subscriptions with at least so many issues left, or unlimited ones.",
                ),
                Parameter(
                    "publication_id", Identifier(), "Only subscriptions to this publication."
                ),
                Parameter("subscriber_id", Identifier(), "Only subscriptions of this subscriber."),
                Parameter("type", OneOf(*TYPES), "Only subscriptions of this type."),
                _AFTER,
            ),
        ),
        Operation(
            8,
            "search_subscribers",
            "/2/subscribers/",
            "Search subscribers",
            shapes.Subscriber,
            envelope="subscribers",
            many=True,
            parameters=(
                Parameter("email", Text(), "The email address." + _SEARCH),
                Parameter("first_name", Text(), "The first name." + _SEARCH),
                Parameter("last_name", Text(), "The last name." + _SEARCH),
                _LIMIT,
                Parameter("renewal_code", Text(), "The renewal code." + _SEARCH),
                Parameter("source", Text(), "Where the subscriber came from." + _SEARCH),
                _AFTER,
            ),
        ),
        Operation(
            9,
            "get_order",
            "/2/orders/{order_id}",
            "Get one order",
            shapes.Order,
        ),
        Operation(
            10,
            "download_mailing_list",
            "/2/downloadmailinglist/{mailing_list_id}/",
            "Download a mailing list",
            shapes.MailingListEntry,
            many=True,
            parameters=(
                Parameter(
                    "download",
                    Bool(),
                    "`true`: a browser saves the response as a file. The entries are the same.",
                ),
            ),
        ),
    )
}

SNAPSHOT = Operation(
    None,
    "snapshot",
    "/snapshot",
    "Snapshot: every record, to start a copy with",
    None,
    parameters=(_ENTITIES,),
    media_types=(JSON, NDJSON),
)
"""All records at once, to start a copy with (rules, "Change feed", "Snapshot in lines")."""

DELETIONS = Operation(
    None,
    "deletions",
    "/deletions",
    "Deletions: the ids of records that were removed since a time",
    None,
    parameters=(_CHANGED_SINCE, _ENTITIES),
)
"""Removed records, which the change feed cannot show (rules, "Records that are gone")."""

DIGEST = Operation(
    None,
    "digest",
    "/digest",
    "Digest of every record, to compare a copy with",
    None,
    parameters=(_ENTITIES,),
)
"""To verify a copy (decisions, "Digest")."""

_LOGIN = OPERATIONS["authenticate_subscriber"].parameters

ENTITLEMENTS = Operation(
    None,
    "entitlements",
    "/entitlements",
    "What a reader may read now, as a signed token",
    shapes.EntitledReader,
    envelope="reader",
    parameters=(
        *_LOGIN,
        Parameter(
            "code",
            Text(),
            "The one-time code with which the readers' pages sent the reader, in place of `login` "
            "and `password`.",
        ),
    ),
)
"""For sites with a paywall (decisions, "Entitlements")."""

EXTENSIONS = (SNAPSHOT, DELETIONS, DIGEST, ENTITLEMENTS)
"""The operations of this server that are not in the interface."""
