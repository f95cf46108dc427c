"""The credentials of a client: missing or wrong."""

from masthead.checker.asking import Asking
from masthead.checker.service import Service
from masthead.contract.operations import OPERATIONS


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
        wrong = Asking(credentials=("no-such-key-b8f17c0e", "no-such-login"))
        response = service.asker.ask(operation.path, asking=wrong)
        service.refused(
            response, "Authentication", "", "a request with wrong credentials", 403, 401
        )


CHECKS = (credentials_are_required,)
