"""The records of the tables of the readers' pages.

``masthead.contract.records`` lists them among the tables (readers' pages, "What is stored").
"""

from typing import Annotated

from msgspec import Struct

from masthead.contract import kinds
from masthead.contract.billing import RequiredText
from masthead.contract.shapes import Bit, DateTime, DateTimeOrNull, IdOrNull, Key, TextOrNull

CHANGE_KINDS = (
    *("contact", "address", "subscription_address", "temporary_address", "pause", "resume"),
    *("cancel", "uncancel", "automatic_renewal", "order", "missing_copy", "answers", "consents"),
    "password",
)
REQUEST_KINDS = ("missing_copy", "erasure", "message")

ChangeKind = Annotated[str, kinds.OneOf(*CHANGE_KINDS)]
RequestKind = Annotated[str, kinds.OneOf(*REQUEST_KINDS)]


class PageSetting(Struct):
    """A setting of the readers' pages that was set; the others have their defaults."""

    setting_id: Key
    name: RequiredText
    value: TextOrNull


class ReaderBundle(Struct):
    """A bundle that readers can renew with, buy or give on their pages."""

    bundle_id: Key
    renew: Bit
    buy: Bit
    gift: Bit


class ReaderChange(Struct):
    """What a reader changed on the readers' pages.

    ``before`` and ``after`` are JSON. They are null once the subscriber is erased. ``undone_at`` is
    when ``undone_by`` took the change back.
    """

    reader_change_id: Key
    subscriber_id: Key
    subscription_id: IdOrNull
    kind: ChangeKind
    made_at: DateTime
    before: TextOrNull
    after: TextOrNull
    undone_at: DateTimeOrNull
    undone_by: TextOrNull


class ReaderConsent(Struct):
    """The consent of a subscriber to a ``purpose`` of the publisher; each giving has a row."""

    reader_consent_id: Key
    subscriber_id: Key
    purpose: RequiredText
    given_at: DateTime
    ended_at: DateTimeOrNull


class ReaderRequest(Struct):
    """What a reader asks the desk for; the text is null once the subscriber is erased."""

    reader_request_id: Key
    subscriber_id: Key
    subscription_id: IdOrNull
    issue_id: IdOrNull
    kind: RequestKind
    text: TextOrNull
    made_at: DateTime
    answered_at: DateTimeOrNull
    answered_by: TextOrNull
