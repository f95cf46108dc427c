"""Log: who did what, from the audit log."""

from starlette.responses import Response

from masthead.console.page_request import PageRequest, get
from masthead.console.roles import Action
from masthead.store import audit
from masthead.web.forms import id_in

_SHOWN = 100


def audit_log(request: PageRequest) -> Response:
    """Show the account's entries, newest first, a hundred on each page."""
    before = id_in(request.query.get("before", ""))
    with request.reading() as connection:
        entries = audit.log_page(
            connection,
            request.account_id,
            before=before,
            limit=_SHOWN + 1,
        )
    older = entries[_SHOWN - 1][0] if len(entries) > _SHOWN else None
    return request.page("audit_log", entries=[entry for _, entry in entries[:_SHOWN]], older=older)


pages = [get("/audit", audit_log, Action.AUDIT_LOG)]
