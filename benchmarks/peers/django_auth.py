"""Who asks the peer on Django REST framework."""

import secrets

from rest_framework.authentication import BasicAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from benchmarks.peers.django_models import Account


class PairAuthentication(BasicAuthentication):
    """HTTP Basic with the key and the login of an account."""

    def authenticate_credentials(
        self, userid: str, password: str, _request: Request | None = None
    ) -> tuple[Account, None]:
        """Return the account that the pair opens."""
        found = Account.objects.filter(api_key=userid).first()
        if found is None or not (found.active and found.api_active and found.api_login):
            raise PermissionDenied
        if not secrets.compare_digest(found.api_login.encode(), password.encode()):
            raise PermissionDenied
        return found, None
