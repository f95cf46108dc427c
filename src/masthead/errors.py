"""The exceptions of Masthead, as one tree.

::

    MastheadError
    ├── BadInput             an invalid file, row, parameter or setting
    │   ├── BadUsage         a command called with invalid arguments
    │   └── BadRows          rows of import files that are refused
    ├── NotFound             an id that does not exist in this account
    │   └── AccountGone          an account that has been removed
    ├── StoreUnavailable     the database is not available; a retry may succeed
    │   └── StoreBusy            another program writes to it for longer than a writer waits
    └── ServiceError         a request of masthead.Client failed
        ├── TooOld               410: the changes since then are no longer available
        ├── TooManyRequests      429: more requests, or wrong guesses at a login, than allowed
        ├── ServiceUnreachable   no complete response
        └── UnexpectedResponse   a response that the interface does not allow

Each message is one sentence: what is wrong, where, and what would be right. It names no command and
no option, since clerks read it in a browser. The command line maps the classes to exit statuses,
the server maps them to HTTP statuses.
"""


class MastheadError(Exception):
    """The base of all exceptions that Masthead raises on purpose.

    ``code`` identifies an error for which a front end has a hint, and is "" for others. ``values``
    are the values in that hint (``masthead.cli.hints``, ``masthead.console.hints``).
    """

    def __init__(self, *args: object, code: str = "", **values: object) -> None:
        super().__init__(*args)
        self.code = code
        self.values = values


class BadInput(MastheadError):
    """Invalid data. The command line exits with 1, the HTTP status is 400."""


class BadUsage(BadInput):
    """A command called with invalid arguments. The command line exits with 2."""


class BadRows(BadInput):
    """Rows of import files that are refused, with their problems.

    The message shows the values, which can be personal. ``brief`` omits them: it says where the
    first problem is, and how many problems there are.
    """

    def __init__(self, message: str, brief: str, *, code: str = "") -> None:
        super().__init__(message, code=code)
        self.brief = brief


class NotFound(MastheadError):
    """An id that does not exist in this account. The HTTP status is 404."""


def no_subscriber(account_id: int, subscriber_id: int) -> NotFound:
    """Return the error for the id of a subscriber that an account does not have."""
    return NotFound(
        f"account {account_id} has no subscriber {subscriber_id}", code="unknown_subscriber"
    )


class AccountGone(NotFound):
    """The account has been removed. The HTTP status is 403: its credentials open nothing."""


class StoreUnavailable(MastheadError):
    """The database is not available. The HTTP status is 503 with ``Retry-After``."""


class StoreBusy(StoreUnavailable):
    """Another program writes to the database for longer than this one waits."""


class ServiceError(MastheadError):
    """A request of :class:`masthead.Client` failed.

    ``path`` is the request's path, ``status`` the HTTP status, or None without a response.
    ``message`` is the service's own message, or a description of the failure.
    """

    def __init__(self, path: str, status: int | None, message: str) -> None:
        super().__init__(path, status, message)
        self.path = path
        self.status = status
        self.message = message

    def __str__(self) -> str:
        """Return path, status and message as one line."""
        status = "" if self.status in {None, 200} else f"{self.status}: "
        return f"{self.path}: {status}{self.message}"


class TooOld(ServiceError):
    """The changes since the requested time are no longer available: load a snapshot."""


class _Passing(ServiceError):
    """A temporary failure: the same request may succeed later.

    ``retry_after_s`` are the seconds of ``Retry-After``, None without this header.
    """

    def __init__(
        self, path: str, status: int | None, message: str, retry_after_s: float | None = None
    ) -> None:
        super().__init__(path, status, message)
        self.retry_after_s = retry_after_s


class TooManyRequests(_Passing):
    """The service refuses the request for now (429), such as after too many guesses at a login.

    The service is up, but it has not checked the request: never treat this as a successful login.
    ``retry_after_s`` are the seconds of ``Retry-After``, None without this header.
    """


class ServiceUnreachable(_Passing):
    """There was no complete response, or one with a status (502, 503, 504) that says so.

    ``retry_after_s`` are the seconds of ``Retry-After``, None without this header.
    """


class UnexpectedResponse(ServiceError):
    """The interface does not allow this response."""
