"""Reading a file of the bank: it is sent, what it would bring is shown, and then it is read."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.responses import Response

from masthead.bank_files.csv_mapping import read_mapping
from masthead.books import Books, bank_imports
from masthead.books.bank_imports import Imported, Read
from masthead.console.forms import Form, sentence
from masthead.console.page_request import PageRequest, get, post_files
from masthead.console.pages.money import check_bills
from masthead.console.roles import Action
from masthead.console.uploads import Upload
from masthead.contract.printable import counted, listed

_SHOWN = 100


def choose(request: PageRequest) -> Response:
    """Show the form in which a file is chosen."""
    check_bills(request)
    return _shown(request, Form({}))


def read(request: PageRequest) -> Response:
    """Show what a file would bring, or read it: all of it, or nothing."""
    check_bills(request)
    form = Form(request.form)
    is_sure = bool(form["sure"])
    files = request.kept_files.find(request.owner, form["kept"]) if is_sure else request.files
    if "file" not in files:
        form.refuse(
            "file",
            "The file is no longer here: choose it again."
            if is_sure
            else "Choose the file that the bank sent you.",
        )
        return _shown(request, form, 400)
    books = request.books_for("read a file of the bank", "/bank") if is_sure else request.books
    done = _read(books, form, files, dry_run=True)
    if done is None:
        return _shown(request, form, 400)
    if is_sure and form["will"] == _said(done):
        done = _read(books, form, files, dry_run=False)
        assert done is not None
        request.kept_files.drop(form["kept"])
        return request.go("/bank", _said(done))
    if is_sure:
        form.refuse("", "Something has changed meanwhile: look again at what will happen.")
    if not done.entries:
        form.refuse("file", f"There is nothing new in the file: {_said(done)}")
        return _shown(request, form, 400)
    token = form["kept"] if is_sure else request.kept_files.keep(request.owner, files)
    return _shown(request, form, 409 if is_sure else 200, done=done, token=token)


def _read(
    books: Books, form: Form, files: Mapping[str, Upload], *, dry_run: bool
) -> Imported | None:
    """Read the file; what is wrong with it becomes an error of the form."""
    with TemporaryDirectory() as folder, form.refusing("file"):
        paths = {}
        for field, upload in files.items():
            paths[field] = Path(folder, field)
            paths[field].write_bytes(upload.data)
        mapping = None
        if "mapping" in paths:
            mapping = read_mapping(paths["mapping"], files["mapping"].name)
        return bank_imports.import_file(
            books, paths["file"], mapping, name=files["file"].name, dry_run=dry_run
        )
    return None


def _said(done: Imported) -> str:
    """Return how many entries were booked and how many wait."""
    parts = []
    for status, words in (("settled", "booked"), ("proposed", "proposed"), ("unknown", "unknown")):
        if found := done.of(status):
            parts.append(f"{len(found)} {words}")
    if done.known:
        parts.append(f"{done.known} known already")
    if done.pending:
        parts.append(f"{done.pending} not booked by the bank yet")
    many = len(done.entries) + done.known + done.pending
    return sentence(f"{counted(many, 'entry', 'entries')} of the bank: {listed(parts) or 'none'}")


def _what_happens(each: Read) -> str:
    """Return what becomes of an entry."""
    if each.entry.status == "settled":
        return f"pays {each.number}"
    return f"perhaps {each.number}: waits for you" if each.number else "waits for you"


def _shown(
    request: PageRequest,
    form: Form,
    status: int = 200,
    *,
    done: Imported | None = None,
    token: str = "",
) -> Response:
    return request.page(
        "bank_file",
        status,
        form=form,
        done=done,
        will=_said(done) if done else "",
        token=token,
        entries=[(each, _what_happens(each)) for each in done.entries[:_SHOWN]] if done else [],
        more=max(len(done.entries) - _SHOWN, 0) if done else 0,
    )


pages = [
    get("/bank/file", choose, Action.BILL),
    post_files("/bank/file", read, Action.BILL),
]
