"""Operations 1 and 2: the accounts that the credentials give access to."""

from typing import Any

from masthead.checker.asking import Response
from masthead.checker.findings import NotTried
from masthead.checker.forms import differing_fields
from masthead.checker.service import Service, is_another, objects, unknown_id
from masthead.contract.operations import OPERATIONS
from masthead.contract.shapes import Account

_LIST = OPERATIONS["list_accounts"]
_ONE = OPERATIONS["get_account"]
_LISTED = f"GET {_LIST.path}"


def accounts_have_the_form_of_their_table(service: Service) -> None:
    """The list of accounts has its envelope, and each account matches its table.

    Interface, operation 1; "Account".
    """
    records = service.records(service.ask("list_accounts"), _LIST)
    service.check_records(Account, records, _LISTED, "accounts[]")
    service.check_unique(objects(records), "Account", _LISTED, "accounts[].account_id")


def credentials_are_shown_while_the_api_is_active(service: Service) -> None:
    """`api_key` and `api_login` are empty exactly while `api_active` is "0".

    Interface, "Authentication".
    """
    for record in service.accounts:
        if record.get("api_active") not in ("0", "1"):
            continue
        is_active = record["api_active"] == "1"
        for name in ("api_key", "api_login"):
            if isinstance(record.get(name), str) and bool(record[name]) != is_active:
                said = "empty" if is_active else "not empty"
                text = f'it is {said} although `api_active` is "{int(is_active)}"'
                service.differs("Authentication", _LISTED, f"accounts[].{name}", text)


def own_account_is_in_the_list(service: Service) -> None:
    """The list contains the account of the credentials.

    Interface, "Authentication".
    """
    own = sorted(service.credentials)
    shown = ((one.get("api_key"), one.get("api_login")) for one in service.accounts)
    if own not in (sorted(map(str, pair)) for pair in shown):
        text = "no account has the credentials that this was asked with"
        service.notes("Authentication", _LISTED, "accounts[].api_key", text)


def one_account_is_as_in_the_list(service: Service) -> None:
    """Each account requested alone, under `account`, is the same as in the list.

    Interface, operation 2.
    """
    if not service.accounts:
        raise NotTried("the list has no account")
    for listed in service.accounts[:3]:
        response = service.ask("get_account", account_id=str(listed.get("account_id")))
        found = _account_in(service, response)
        service.check_records(Account, [found], response.request, "account")
        if isinstance(found, dict):
            for name in differing_fields(listed, found):
                text = "it differs from the same account in the list"
                service.differs("Operation 2", response.request, f"account.{name}", text)


def unknown_account_is_an_error(service: Service) -> None:
    """The response for an account that does not exist is not a record.

    Interface, operation 2; "Errors".
    """
    unknown = unknown_id({str(record.get("account_id")) for record in service.accounts})
    response = service.ask("get_account", account_id=unknown)
    if response.status == 200:
        found = _account_in(service, response)
        service.check_records(Account, [found], response.request, "account")
        if is_another(found, "account_id", unknown):
            text = "an account that does not exist is answered with another one"
            service.differs("Operation 2", response.request, "account.account_id", text)
    service.refused(response, "Errors", "account_id", "an unknown account", 404)


def _account_in(service: Service, response: Response) -> Any:
    body = service.json_of(response, "Operation 2")
    return service.member(body, "account", response, "Operation 2")


CHECKS = (
    accounts_have_the_form_of_their_table,
    credentials_are_shown_while_the_api_is_active,
    own_account_is_in_the_list,
    one_account_is_as_in_the_list,
    unknown_account_is_an_error,
)
