"""What stops other sites from sending forms: the site that sent one, and the session's token."""

import hashlib
from collections.abc import Mapping
from hmac import compare_digest

from starlette.requests import Request


def is_own_site(request: Request) -> bool:
    """Return whether a page of this site sent the form (Fetch Metadata, RFC 6454)."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    scheme = "https" if request.app.state.behind_proxy else "http"
    return request.headers.get("origin") == f"{scheme}://{request.headers.get('host')}"


def form_token(session: str) -> str:
    """Return the token in each form of a session; it stops other sites from sending forms."""
    return hashlib.sha256(f"form {session}".encode()).hexdigest()


def has_token(form: Mapping[str, str], session: str) -> bool:
    """Return whether a form carries the session's token."""
    return compare_digest(form.get("form_token", "").encode(), form_token(session).encode())
