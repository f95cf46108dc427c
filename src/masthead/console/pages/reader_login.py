"""What a reader signs in with, and a new renewal code or password, which is shown once."""

from starlette.responses import Response

from masthead.books import reader_logins, subscribers
from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action


def show(request: PageRequest) -> Response:
    """Show what the reader signs in with."""
    return _shown(request, Form({}))


def renew(request: PageRequest) -> Response:
    """Give the reader a new renewal code or password, and show it."""
    form, key = Form(request.form), int(request.ids["id"])
    books = request.books_for("new login")
    code = password = ""
    with form.refusing():
        if form["what"] == "code":
            code = reader_logins.renew_code(books, key).code
        elif form["what"] == "password":
            password = reader_logins.set_password(books, key).password
        else:
            form.refuse("", "Say what is to be new: the renewal code or the password.")
    return _shown(request, form, 200 if form.is_good else 400, code=code, password=password)


def _shown(
    request: PageRequest, form: Form, status: int = 200, *, code: str = "", password: str = ""
) -> Response:
    key = int(request.ids["id"])
    with request.books.snapshot() as inside:
        login = reader_logins.show(inside, key)
        names = subscribers.names(inside, key)
    return request.page(
        "reader_login",
        status,
        form=form,
        key=key,
        login=login,
        names=names,
        code=code,
        password=password,
    )


pages = [
    get("/subscribers/{id:int}/login", show, Action.SERVE),
    post("/subscribers/{id:int}/login", renew, Action.SERVE),
]
