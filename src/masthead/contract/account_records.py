"""The records of accounts, and of the subscribers whom an account has erased."""

from typing import Annotated

from msgspec import Struct

from masthead.contract import kinds
from masthead.contract.file_kinds import Currency, TimeZone
from masthead.contract.shapes import (
    ApiKey,
    ApiLogin,
    Bool,
    DateTime,
    DateTimeOrNull,
    Flag,
    Key,
    Text,
    TextOrNull,
)


class AccountRecord(Struct):
    """An account, as in a file of accounts."""

    account_id: Key
    company_name: Text
    email: Text
    website: Text
    active: Bool
    api_active: Flag
    api_key: ApiKey
    api_login: ApiLogin
    plan: Text
    audit_type: TextOrNull
    created: DateTime
    master_checkout: Text
    is_master: Bool
    hide_password_md5: Bool
    renewal_code_login: Annotated[bool, kinds.Bool(when_missing=1)]
    time_zone: Annotated[str, TimeZone()]
    currency: Annotated[str, Currency()]
    keep_password_md5: Bool


class ErasureRecord(Struct):
    """An erased subscriber, and when the data was erased, in the account's time zone."""

    subscriber_id: Key
    erased_at: DateTimeOrNull
