"""The credentials of a client: missing or wrong."""

from masthead.checker.asking import Asking
from masthead.checker.service import Service
from masthead.contract.operations import OPERATIONS

_WRONG_KEY, _WRONG_LOGIN = "no-such-key-b8f17c0e", "no-such-login"


def credentials_are_required(service: Service) -> None:
    """Without credentials the response is 401 with a challenge, and with wrong ones 403.

    Interface, "Authentication", which leaves it open.
    """
    for operation in (OPERATIONS["list_accounts"], OPERATIONS["search_subscribers"]):
        response = service.asker.ask(operation.path, asking=Asking(credentials=()))
        text = "a request without credentials"
        service.refused(response, "Authentication", "", text, 401)
        if response.status == 401 and "WWW-Authenticate" not in response.headers:
            text = "a 401 has no WWW-Authenticate (RFC 9110)"
            service.notes("Authentication", response.request, "WWW-Authenticate", text)
        wrong = Asking(credentials=(_WRONG_KEY, _WRONG_LOGIN))
        response = service.asker.ask(operation.path, asking=wrong)
        service.refused(
            response, "Authentication", "", "a request with wrong credentials", 403, 401
        )


def both_parts_of_the_credentials_are_required(service: Service) -> None:
    """The right `api_key` with a wrong or an empty `api_login` opens nothing, nor the reverse.

    Interface, "Authentication", which leaves it open.
    """
    key, login = service.credentials
    for what, credentials in (
        ("the api_key with a wrong api_login", (key, _WRONG_LOGIN)),
        ("the api_key with an empty api_login", (key, "")),
        ("the api_login with a wrong api_key", (_WRONG_KEY, login)),
    ):
        operation = OPERATIONS["list_accounts"]
        response = service.asker.ask(operation.path, asking=Asking(credentials=credentials))
        service.refused(response, "Authentication", "", what, 403, 401)


CHECKS = (credentials_are_required, both_parts_of_the_credentials_are_required)
