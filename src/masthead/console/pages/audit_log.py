"""Log: who did what, from the audit log."""

from starlette.responses import Response

from masthead.books import log_names
from masthead.console.page_request import PageRequest, get
from masthead.console.roles import Action
from masthead.console.templating import who
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
    shown = [entry for _, entry in entries[:_SHOWN]]
    texts = [entry.summary for entry in shown]
    texts += [who(entry.user_name) for entry in shown]
    parts = log_names.in_names(request.books, texts)
    entries_in_names = zip(shown, parts[: len(shown)], parts[len(shown) :], strict=True)
    return request.page("audit_log", entries=list(entries_in_names), older=older)


pages = [get("/audit", audit_log, Action.AUDIT_LOG)]
