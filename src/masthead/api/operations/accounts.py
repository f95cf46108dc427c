"""Operations 1 and 2: the account of the caller; all accounts for a master account."""

from masthead.api.http.responses import Answer, json
from masthead.api.operation import Call, route
from masthead.contract.encoding import encode, wire_of
from masthead.contract.shapes import Account, fields_of
from masthead.errors import NotFound
from masthead.store import accounts

__all__ = ["routes"]

_make = wire_of(Account)
_FIELDS = [field.name for field in fields_of(Account)]
_SECRETS = ("api_key", "api_login")


def list_accounts(call: Call) -> Answer:
    """Answer interface, operation 1: accounts of shape Account, by ascending id."""
    if call.caller.is_master:
        found = accounts.accounts(call.connection)
    else:
        own = accounts.get_account(call.connection, call.account_id)
        found = [own] if own else []
    return json(encode({"accounts": [_make(*_shown(row, call)) for row in found]}))


def get_account(call: Call) -> Answer:
    """Answer interface, operation 2: one account of shape Account.

    Raises NotFound for an account that the caller may not see, as for one that does not exist.
    """
    found = None
    if call.caller.is_master or call.path_id == call.account_id:
        found = accounts.get_account(call.connection, call.path_id or 0)
    if found is None:
        raise NotFound(f"there is no account {call.path_id}")
    return json(encode({"account": _make(*_shown(found, call))}))


def _shown(row: accounts.Row, call: Call) -> accounts.Row:
    """Return the account as the caller may see it.

    Without credentials while its API is off (interface, Authentication); the caller's own with the
    pair that it came with, which may be one that was replaced (decisions, "Rotation of API
    secrets").
    """
    account = dict(zip(_FIELDS, row, strict=True))
    if not account["api_active"]:
        account |= dict.fromkeys(_SECRETS)
    elif account["account_id"] == call.account_id:
        account |= zip(_SECRETS, call.caller.credentials, strict=True)
    return tuple(account.values())


routes = [route("list_accounts", list_accounts), route("get_account", get_account)]
