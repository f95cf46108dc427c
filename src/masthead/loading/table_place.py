"""Where the table of a file is: its header, and the rows after its last record."""

import io
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from itertools import zip_longest

from masthead.errors import BadInput
from masthead.loading.batches import REASON, Said


def rows_of_table(
    rows: Iterable[tuple[int, list[str]]], label: str, said: Said
) -> Generator[tuple[int, list[str]], None, None]:
    """Yield the header and the records of the table among the rows of a file.

    Each row comes with its line. The header is in the lines ``said.header``, in general in the
    first row; the names of several rows are joined. The last ``said.skip_last`` rows are left out.
    Raises BadInput if there is no row in a line of the header.
    """
    found = iter(rows)
    header = _header(found, label, said.header) if said.header else next(found, None)
    if header is None:
        return
    yield header
    is_rejected = bool(header[1]) and header[1][-1] == REASON
    if not said.skip_last or is_rejected:
        yield from found
        return
    waiting: deque[tuple[int, list[str]]] = deque()
    for row in found:
        waiting.append(row)
        if len(waiting) > said.skip_last:
            yield waiting.popleft()


def text_of_table(text: str, said: Said) -> str:
    """Return the beginning of a text file without the lines above its header.

    They have no separators, or others than the table.
    """
    lines = io.StringIO(text, newline="").readlines()
    is_rejected = bool(lines) and lines[0].rstrip("\r\n\"'").endswith(REASON)
    return text if is_rejected or not said.header else "".join(lines[said.header[0] - 1 :])


def _header(
    rows: Iterable[tuple[int, list[str]]], label: str, wanted: Sequence[int]
) -> tuple[int, list[str]]:
    """Return the first line and the names of a header in the lines ``wanted``."""
    names: list[list[str]] = []
    for line, row in rows:
        if not names and line < wanted[0] and row[-1] == REASON:
            return line, row
        if line in wanted:
            names.append(row)
            if line == wanted[-1]:
                break
        elif line > wanted[-1]:
            break
    if len(names) < len(wanted):
        lines = " and ".join(map(str, wanted))
        raise BadInput(
            f"{label}: has no names in line {lines}, where the mapping says that the header is"
        )
    return wanted[0], joined(names)


def joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names that the rows of a header have together, the upper row first.

    A name of an upper row can be that of several columns.
    """
    names = list(rows[-1])
    for upper in reversed(rows[:-1]):
        lower, names, last = names, [], ""
        for above, below in zip_longest(map(str.strip, upper), map(str.strip, lower), fillvalue=""):
            names.append(f"{above or last} {below}".strip())
            if above:
                # A name with nothing below is that of its own column only.
                last = above if below else ""
    return names
