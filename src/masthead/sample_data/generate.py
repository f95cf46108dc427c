"""Made-up import files of any size, for demonstrations, tests and measurements.

The same seed gives the same bytes on every machine and version of Python. Subscribers are numbered
1, 2, 3, …, and the rows of a number are the same however many follow it. A subscriber with a
``password_md5`` has the password ``password-`` and its number: that of subscriber 7 is
``password-7``.

How the rows come about stands in ``generate_readers.py`` and ``generate_publisher.py``; this module
puts them into files.
"""

import csv
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Self

from masthead.errors import BadInput
from masthead.sample_data.generate_publisher import COLUMNS, Publisher, Row
from masthead.sample_data.generate_readers import Readers
from masthead.sample_data.generate_values import SUBSCRIBERS_MAX

__all__ = ["REFERENCE_DATE", "Files", "generate"]

#: The day as of which the data are made, unless another is asked for.
REFERENCE_DATE = date(2026, 11, 1)

_SUBSCRIBERS_BETWEEN_WRITES = 500


class Files:
    """The import files of some tables in a new or empty folder, as a context manager.

    Entering raises BadInput where the folder holds anything, so that made-up rows never replace
    or join real ones, and where it cannot be written.
    """

    def __init__(self, directory: Path, tables: Iterable[str] = COLUMNS) -> None:
        self._directory = directory
        self._tables = tuple(tables)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Create the folder, and in it each file with its header."""
        directory = self._directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if any(directory.iterdir()):
                raise BadInput(
                    f"The folder {directory} is not empty: made-up files go into a new or an "
                    "empty folder."
                )
            self._writers = {name: self._writer(name) for name in self._tables}
        except OSError as error:
            self._open.close()
            raise BadInput(f"No files can be made in {directory}: {error.strerror}.") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the files."""
        self._open.close()

    def write(self, rows: dict[str, list[Row]]) -> None:
        """Write the rows of each table and empty the lists."""
        for name, found in rows.items():
            if found:
                self._writers[name](found)
                found.clear()

    def _writer(self, name: str) -> Callable[[Iterable[Row]], None]:
        path = self._directory / f"{name}.csv"
        file = self._open.enter_context(path.open("w", encoding="utf-8", newline=""))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS[name].split())
        return writer.writerows


def generate(
    directory: Path,
    *,
    subscribers: int,
    seed: int,
    reference_date: date = REFERENCE_DATE,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Write all import files of a made-up publisher with so many subscribers into ``directory``.

    Memory does not grow with the number of subscribers. Every so often ``advance`` is called with
    the number of subscribers finished so far. Raises BadInput where the folder holds
    files already or cannot be written, and where there are fewer renewal codes than subscribers.
    """
    if subscribers > SUBSCRIBERS_MAX:
        raise BadInput(
            f"{subscribers} subscribers are too many: there are {SUBSCRIBERS_MAX} renewal codes "
            "of five characters."
        )
    publisher = Publisher(reference_date)
    readers = Readers(publisher, seed)
    with Files(directory) as files:
        files.write(publisher.rows())
        for made in range(0, subscribers, _SUBSCRIBERS_BETWEEN_WRITES):
            batch = min(_SUBSCRIBERS_BETWEEN_WRITES, subscribers - made)
            for _ in range(batch):
                readers.add()
            files.write(readers.rows)
            if advance:
                advance(made + batch)
        files.write({"list_downloads": readers.list_rows()})
