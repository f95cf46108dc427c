"""Forms that send a file: what the file brings is shown first, and then the file is read.

A first form sends the file, and the page shows what reading it would change. A second form agrees:
the file waited meanwhile (``uploads.KeptFiles``). If something has changed since, the page shows
what reading it would change now.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, NamedTuple, TypeVar

from starlette.responses import Response

from masthead.books import Books
from masthead.console.forms import Form
from masthead.console.page_request import Page, PageRequest, get, post_files
from masthead.console.pages.money import check_bills
from masthead.console.roles import Action
from masthead.web.uploads import Upload

Done = TypeVar("Done")
"""What reading a file brought."""


class SentFiles(NamedTuple):
    """The sent files by their fields: where they are, the names that they had, and what to do."""

    paths: Mapping[str, Path]
    names: Mapping[str, str]
    dry_run: bool


@dataclass(frozen=True)
class FileForm(Generic[Done]):
    """A form of finance that sends a file in the field ``file``, and perhaps others.

    ``read`` raises BadInput for what is wrong with a file. ``said`` says what the file brings,
    ``is_new`` whether it brings anything, and ``shown`` returns what the template shows of it.
    ``then`` is the path of the page that follows. Sentences call the file ``word``, and ``asks`` is
    the one if no file was chosen.
    """

    path: str
    template: str
    title: str
    then: str
    word: str
    asks: str
    read: Callable[[Books, SentFiles], Done]
    said: Callable[[Done], str]
    is_new: Callable[[Done], bool]
    shown: Callable[[Done], dict[str, Any]]

    def pages(self) -> list[Page]:
        """Return the page that shows the form, and the one that receives it."""
        return [
            get(self.path, self._choose, Action.BILL),
            post_files(self.path, self._receive, Action.BILL),
        ]

    def _choose(self, request: PageRequest) -> Response:
        check_bills(request)
        return self._page(request, Form({}), 200)

    def _receive(self, request: PageRequest) -> Response:
        """Show what a file would bring, or read it: all of it, or nothing."""
        check_bills(request)
        form = Form(request.form)
        is_sure = bool(form["sure"])
        files = request.kept_files.find(request.owner, form["kept"]) if is_sure else request.files
        if "file" not in files:
            gone = "The file is no longer here: choose it again."
            form.refuse("file", gone if is_sure else self.asks)
            return self._page(request, form, 400)
        books = request.books_for(self.title, self.then) if is_sure else request.books
        done = self._read(books, form, files, dry_run=True)
        if done is None:
            return self._page(request, form, 400)
        said = self.said(done)
        if is_sure and form["will"] == said:
            brought = self._read(books, form, files, dry_run=False)
            if brought is None:
                return self._page(request, form, 409)
            request.kept_files.drop(form["kept"])
            return request.go(self.then, self.said(brought))
        if is_sure:
            form.refuse("", "Something has changed meanwhile: look again at what will happen.")
        if not self.is_new(done):
            form.refuse("file", f"There is nothing new in the {self.word}: {said}")
            return self._page(request, form, 400)
        token = form["kept"] if is_sure else request.kept_files.keep(request.owner, files)
        return self._page(
            request,
            form,
            409 if is_sure else 200,
            done=done,
            will=said,
            token=token,
            **self.shown(done),
        )

    def _read(
        self, books: Books, form: Form, files: Mapping[str, Upload], *, dry_run: bool
    ) -> Done | None:
        """Read the file; what is wrong with it becomes an error of the form."""
        with TemporaryDirectory() as folder, form.refusing("file"):
            paths = {field: Path(folder, field) for field in files}
            for field, upload in files.items():
                paths[field].write_bytes(upload.data)
            names = {field: upload.name for field, upload in files.items()}
            return self.read(books, SentFiles(paths, names, dry_run))
        return None

    def _page(self, request: PageRequest, form: Form, status: int, **values: Any) -> Response:
        return request.page(self.template, status, form=form, **{"done": None, **values})
