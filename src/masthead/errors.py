"""The exceptions of Masthead, as one tree.

::

    MastheadError
    ├── BadInput             a file, a row, a parameter or a setting that cannot be used
    │   └── BadUsage         a command called in a way that cannot work
    ├── NotFound             an id that does not exist for this account
    ├── StoreUnavailable     the database does not answer now; a later try may succeed
    └── ServiceError         a service that was asked did not give what was asked for
        ├── TooOld               410: it has no changes from so long ago any more
        ├── ServiceUnreachable   there was no answer, or not all of it
        └── UnexpectedAnswer     what it answered is not what the interface says

Each message is a sentence for the person who reads it: what was wrong, where, and what would be
right. The command line turns them into exit statuses, the HTTP face into answers; nothing else
is needed to tell them apart. A ServiceError is what :class:`masthead.Client` raises.
"""

__all__ = [
    "BadInput",
    "BadUsage",
    "MastheadError",
    "NotFound",
    "ServiceError",
    "ServiceUnreachable",
    "StoreUnavailable",
    "TooOld",
    "UnexpectedAnswer",
]


class MastheadError(Exception):
    """Something that Masthead can explain to the person who asked for it."""


class BadInput(MastheadError):
    """Data that cannot be used as given; the command line exits with 1, HTTP answers 400."""


class BadUsage(BadInput):
    """A command called in a way that cannot work; the command line exits with 2."""


class NotFound(MastheadError):
    """An id that does not exist for this account; HTTP answers 404."""


class StoreUnavailable(MastheadError):
    """The database does not answer now; HTTP answers 503 with ``Retry-After``."""


class ServiceError(MastheadError):
    """A service that was asked did not give what was asked for.

    ``asked`` is the path of the request. ``status`` is that of its answer, None where there was
    none. ``message`` is what it says was wrong, or what can be said of it here.
    """

    def __init__(self, asked: str, status: int | None, message: str) -> None:
        super().__init__(asked, status, message)
        self.asked = asked
        self.status = status
        self.message = message

    def __str__(self) -> str:
        """Return the sentence for the person who reads it."""
        status = "" if self.status in {None, 200} else f"{self.status}: "
        return f"{self.asked}: {status}{self.message}"


class TooOld(ServiceError):
    """The changes since the time that was asked for are not there any more: begin anew."""


class ServiceUnreachable(ServiceError):
    """There was no answer, or not all of it, within the time that the client takes.

    ``retry_after_s`` is in how many seconds there may be one, where the service says so.
    """

    def __init__(
        self, asked: str, status: int | None, message: str, retry_after_s: float | None = None
    ) -> None:
        super().__init__(asked, status, message)
        self.retry_after_s = retry_after_s


class UnexpectedAnswer(ServiceError):
    """The answer is not what the interface says."""
