"""The exceptions of Masthead, as one tree.

::

    MastheadError
    ├── BadInput             a file, a row, a parameter or a setting that cannot be used
    │   └── BadUsage         a command called in a way that cannot work
    ├── NotFound             an id that does not exist for this account
    └── StoreUnavailable     the database does not answer now; a later try may succeed

Each message is a sentence for the person who reads it: what was wrong, where, and what would be
right. The command line turns them into exit statuses, the HTTP face into answers; nothing else
is needed to tell them apart.
"""

__all__ = ["BadInput", "BadUsage", "MastheadError", "NotFound", "StoreUnavailable"]


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
