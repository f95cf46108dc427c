"""The records of the tables of qualification: free titles, their questionnaires and their audit.

``masthead.contract.records`` lists them among the tables (decisions, "The newest qualification").
"""

from typing import Annotated

from msgspec import Struct

from masthead.contract import kinds
from masthead.contract.billing import RequiredText
from masthead.contract.books import Count, RequiredDate
from masthead.contract.custom_fields import OptionIds
from masthead.contract.file_kinds import Range
from masthead.contract.shapes import (
    Bit,
    Bool,
    DateOrNull,
    DateTime,
    IdOrNull,
    IntegerOrNull,
    Key,
    MediumType,
    TextOrNull,
)

FILLS = ("newest", "class", "request")
WAYS = ("letter", "email", "telephone")
MONTHS_MAX = 120
DAYS_BEFORE_MAX = 730
EFFORTS_MAX = 9

Fills = Annotated[str, kinds.OneOf(*FILLS, when_missing=FILLS[0])]
Way = Annotated[str, kinds.OneOf(*WAYS)]
Months = Annotated[int, Range(1, MONTHS_MAX, 36, unit="months")]
DaysBefore = Annotated[int, Range(0, DAYS_BEFORE_MAX, unit="days")]
Effort = Annotated[int, Range(1, EFFORTS_MAX)]


class QualificationForm(Struct):
    """A publication that goes free to readers who qualify.

    A qualification is valid for ``months``. A quota is filled by ``fills``. The subscriptions that
    qualifications begin have the ``type``. ``agreed_text`` is what a reader agrees to.
    """

    publication_id: Key
    months: Months
    fills: Fills
    type: MediumType
    agreed_text: TextOrNull


class QualificationQuestion(Struct):
    """A question of a form, in the order of ``position``."""

    publication_id: Key
    field_id: Key
    position: Count
    required: Bit
    allow_other: Bit


class AuditClass(Struct):
    """An audit class of a publication; the first whose conditions hold is that of a reader.

    One without a ``position`` is not used any more. ``quota`` is the most copies of an issue.
    """

    audit_class_id: Key
    publication_id: Key
    position: IntegerOrNull
    code: RequiredText
    name: TextOrNull
    served: Bool
    quota: IntegerOrNull


class AuditClassCondition(Struct):
    """A condition of a class: one of these options was answered. All of a class have to hold."""

    audit_class_id: Key
    field_id: Key
    option_ids: OptionIds


class RequestType(Struct):
    """A way in which qualifications come; ``is_request`` if the reader asked."""

    request_type_id: Key
    code: RequiredText
    name: TextOrNull
    position: Count
    is_request: Bool


class Qualification(Struct):
    """That a reader qualified for a publication on a day, and by what.

    ``new_class_id`` is the class by the rules of the classes that changed since; null is
    ``audit_class_id``. ``answers`` and ``evidence`` are JSON. They are null once the subscriber is
    erased.
    """

    qualification_id: Key
    subscriber_id: Key
    publication_id: Key
    subscription_id: IdOrNull
    qualified_on: RequiredDate
    valid_until: RequiredDate
    request_type: RequiredText
    audit_class_id: IdOrNull
    new_class_id: IdOrNull
    disqualified: Bit
    answers: TextOrNull
    taken_by: TextOrNull
    evidence: TextOrNull
    external_reference: TextOrNull
    recorded_at: DateTime


class QualifiedSubscription(Struct):
    """The newest qualification of a subscription.

    ``lapsed_by`` is the list whose closing noted that it lapsed.
    """

    subscription_id: Key
    publication_id: Key
    qualification_id: Key
    audit_class_id: IdOrNull
    class_position: IntegerOrNull
    request_position: IntegerOrNull
    qualified_on: RequiredDate
    valid_until: RequiredDate
    served: Bool
    lapsed_by: IdOrNull


class AuditFigure(Struct):
    """A row of the audit report of an issue, written with its file and never changed.

    Before that, rows of the part ``noted removal`` say why readers of the issue before do not get
    this one; the figures replace them.
    """

    issue_id: Key
    position: Key
    part: RequiredText
    key1: TextOrNull
    key2: TextOrNull
    key3: TextOrNull
    subscriptions: Count
    copies: Count
    printed: Count
    digital: Count


class RequalificationEffort(Struct):
    """When and how readers are asked to requalify: so many days before the end."""

    publication_id: Key
    effort: Effort
    days_before: DaysBefore
    way: Way


class RequalificationSent(Struct):
    """That a reader was asked to requalify."""

    qualification_id: Key
    effort: Effort
    sent_on: DateOrNull
