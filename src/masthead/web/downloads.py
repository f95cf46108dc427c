"""Files that a page writes and sends, such as mail files."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from masthead.temporary import own_folder

FORMS = ("csv", "xlsx")
"""The forms of a file, which are the ends of its name; the first is the usual one."""

_FOLDERS = "masthead-pages-"
_FREE_BYTES_MIN = 1024**3


def download(name: str, write: Callable[[Path], object]) -> Response:
    """Return a file that ``write`` has written to the path that it gets; it is removed once sent.

    Raises what ``write`` raises, and OSError if no folder can be created for it.
    """
    until_sent = ExitStack()
    folder = until_sent.enter_context(own_folder(_FOLDERS, needed=_FREE_BYTES_MIN))
    try:
        write(folder / name)
    except BaseException:
        until_sent.close()
        raise
    return FileResponse(folder / name, filename=name, background=BackgroundTask(until_sent.close))
