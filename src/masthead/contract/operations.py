"""The ten operations of the interface: paths, parameters, shapes of the responses, limits.

The handlers in ``masthead.api``, the client and the OpenAPI document are built on these.
"""

import re
from typing import Any, NamedTuple

from masthead.contract import shapes
from masthead.contract.kinds import Bool, Identifier, Integer, Kind, OneOf, Text

__all__ = [
    "DIGEST",
    "ENTITIES",
    "LIMIT_MAX",
    "OPERATIONS",
    "SNAPSHOT",
    "Entity",
    "Operation",
    "Parameter",
]

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

    ``number`` is that of the interface, None for an extension. ``answer`` is the shape of the
    response's records, ``envelope`` the key that holds them (None: they are the whole body), and
    ``many`` says whether they are a list. The body of operation 3 has a further key. ``answer`` is
    None for responses with lists of :data:`ENTITIES`.
    """

    number: int | None
    name: str
    path: str
    summary: str
    answer: type | None
    envelope: str | None = None
    many: bool = False
    parameters: tuple[Parameter, ...] = ()


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
    "names separated by commas, of " + ", ".join(entity.name for entity in ENTITIES),
    required=True,
)
_LIMIT = Parameter("limit", Limit(), f"number of rows returned, at most {LIMIT_MAX}")
_AFTER = Parameter(
    "after", Identifier(), "extension: only rows with a greater id, for the next page of a list"
)
_SEARCH = "; the whole value, letter case ignored; `*` at its end finds all that begin so"

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
                Parameter("login", Text(), "the subscriber's email or renewal code"),
                Parameter("password", Text(), "the password, or the postal code of an address"),
            ),
        ),
        Operation(
            4,
            "changes",
            "/2/cdc",
            "Everything that changed since a time",
            None,
            parameters=(
                Parameter(
                    "changed_since",
                    Text(),
                    "the time, ISO 8601 with UTC offset; pass on the `Masthead-Changes-Through` "
                    "of the previous response",
                    required=True,
                ),
                _ENTITIES,
            ),
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
                Parameter("campaign_active", Bool(), "eligible for automated renewal campaigns"),
                Parameter("copies", Integer(), "exactly so many copies"),
                Parameter("issues_left", Integer(), "exactly so many issues left; -1 is unlimited"),
                _LIMIT,
                Parameter("max_copies", Integer(), "at most so many copies"),
                Parameter("max_issues_left", Integer(), "at most so many issues left"),
                Parameter("min_copies", Integer(), "at least so many copies"),
                Parameter("min_issues_left", Integer(), "at least so many issues left"),
                Parameter("publication_id", Identifier(), "of this publication"),
                Parameter("subscriber_id", Identifier(), "of this subscriber"),
                Parameter("type", OneOf("Print", "Digital", "Both"), "of this type"),
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
                Parameter("email", Text(), "email" + _SEARCH),
                Parameter("first_name", Text(), "first name" + _SEARCH),
                Parameter("last_name", Text(), "last name" + _SEARCH),
                _LIMIT,
                Parameter("renewal_code", Text(), "renewal code" + _SEARCH),
                Parameter("source", Text(), "source" + _SEARCH),
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
                Parameter("download", Bool(), "true: offer the response as a file to save"),
            ),
        ),
    )
}

SNAPSHOT = Operation(
    None,
    "snapshot",
    "/snapshot",
    "Extension: every record in the form of the change feed",
    None,
    parameters=(_ENTITIES,),
)
"""Everything at once, with which a copy starts (decisions, "Change feed")."""

DIGEST = Operation(
    None,
    "digest",
    "/digest",
    "Extension: a digest of every record, to compare a copy with",
    None,
    parameters=(_ENTITIES,),
)
"""With which a copy is verified (decisions, "Digest")."""
