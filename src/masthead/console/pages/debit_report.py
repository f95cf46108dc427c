"""Reading what the bank says of a file of direct debits: it is sent, shown, and then read."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.responses import Response

from masthead.books import Books, debit_returns
from masthead.books.debit_returns import Imported
from masthead.circulation.amounts import in_currency
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post_files
from masthead.console.pages.money import check_bills
from masthead.console.roles import Action
from masthead.console.uploads import Upload
from masthead.contract.printable import counted

_SHOWN = 100


def choose(request: PageRequest) -> Response:
    """Show the form in which a report is chosen."""
    check_bills(request)
    return _shown(request, Form({}))


def read(request: PageRequest) -> Response:
    """Show what a report takes back, or read it: all of it, or nothing."""
    check_bills(request)
    form = Form(request.form)
    is_sure = bool(form["sure"])
    files = request.kept_files.find(request.owner, form["kept"]) if is_sure else request.files
    if "file" not in files:
        form.refuse("file", "Choose the report that the bank sent you.")
        return _shown(request, form, 400)
    books = request.books_for("read a report of the bank", "/direct-debit")
    done = _read(books, form, files, dry_run=True)
    if done is None:
        return _shown(request, form, 400)
    if is_sure and form["will"] == _said(done):
        _read(books, form, files, dry_run=False)
        request.kept_files.drop(form["kept"])
        return request.go("/direct-debit", _said(done))
    if is_sure:
        form.refuse("", "Something has changed meanwhile: look again at what will happen.")
    if not done.returned:
        form.refuse("file", f"There is nothing new in the report: {_said(done)}")
        return _shown(request, form, 400)
    token = form["kept"] if is_sure else request.kept_files.keep(request.owner, files)
    return _shown(request, form, 409 if is_sure else 200, done=done, token=token)


def _read(
    books: Books, form: Form, files: Mapping[str, Upload], *, dry_run: bool
) -> Imported | None:
    """Read the report; what is wrong with it becomes an error of the form."""
    with TemporaryDirectory() as folder, form.refusing("file"):
        path = Path(folder, "report")
        path.write_bytes(files["file"].data)
        return debit_returns.import_report(books, path, name=files["file"].name, dry_run=dry_run)
    return None


def _said(done: Imported) -> str:
    """Return how much comes back, and what the report names that is not here."""
    cents = sum(each.claim.cents for each in done.returned)
    said = f"{counted(len(done.returned), 'invoice')} of {in_currency(cents, done.currency)} "
    said += "comes back" if len(done.returned) == 1 else "come back"
    if done.known:
        said += f", {done.known} came back before"
    if done.unknown:
        said += f", {len(done.unknown)} of the report were not handed in from here"
    return f"{said}."


def _shown(
    request: PageRequest,
    form: Form,
    status: int = 200,
    *,
    done: Imported | None = None,
    token: str = "",
) -> Response:
    return request.page(
        "debit_report",
        status,
        form=form,
        done=done,
        will=_said(done) if done else "",
        token=token,
        returned=done.returned[:_SHOWN] if done else [],
        more=max(len(done.returned) - _SHOWN, 0) if done else 0,
    )


pages = [
    get("/direct-debit/report", choose, Action.BILL),
    post_files("/direct-debit/report", read, Action.BILL),
]
