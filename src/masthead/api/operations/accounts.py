"""Operations 1 and 2: the account of the caller; all accounts for a master account."""

from starlette.responses import Response

from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import encoded
from masthead.api.http.routing import route
from masthead.contract.encoding import wire_of
from masthead.contract.shapes import Account, fields_of
from masthead.errors import NotFound
from masthead.store import accounts

_make = wire_of(Account)
_FIELDS = [field.name for field in fields_of(Account)]
_SECRETS = ("api_key", "api_login")


def list_accounts(request: AuthenticatedRequest) -> Response:
    """Interface, operation 1: accounts of shape Account, by ascending id."""
    if request.caller.is_master:
        found = accounts.accounts(request.connection)
    else:
        own = accounts.get_account(request.connection, request.account_id)
        found = [own] if own else []
    return encoded({"accounts": [_make(*_visible(row, request)) for row in found]})


def get_account(request: AuthenticatedRequest) -> Response:
    """Interface, operation 2: one account of shape Account.

    Raises NotFound for an account that the caller may not see, as for one that does not exist.
    """
    found = None
    if request.caller.is_master or request.path_id == request.account_id:
        found = accounts.get_account(request.connection, request.path_id)
    if found is None:
        raise NotFound(f"there is no account {request.path_id}")
    return encoded({"account": _make(*_visible(found, request))})


def _visible(row: accounts.Row, request: AuthenticatedRequest) -> accounts.Row:
    """Return the account as the caller may see it.

    It has no credentials while its API is off (interface, Authentication). The caller's own account
    has the pair that the request used, which may have been replaced since (rules, "Rotation of
    credentials").
    """
    account = dict(zip(_FIELDS, row, strict=True))
    if not account["api_active"]:
        account |= dict.fromkeys(_SECRETS)
    elif account["account_id"] == request.account_id:
        account |= zip(_SECRETS, request.caller.credentials, strict=True)
    return tuple(account.values())


routes = [route("list_accounts", list_accounts), route("get_account", get_account)]
