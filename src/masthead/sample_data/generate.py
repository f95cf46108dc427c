"""Import files of a made-up publisher of any size, for demos, tests and benchmarks.

The same seed gives the same bytes on every machine and Python version. Subscribers have the ids 1,
2, 3, …, and a subscriber's rows do not depend on the number of subscribers. The password of
subscriber 7 is ``password-7``.
"""

import csv
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Self

from masthead.errors import BadInput
from masthead.sample_data.generate_catalogue import catalogue_rows
from masthead.sample_data.generate_publisher import COLUMNS, Publisher, Row
from masthead.sample_data.generate_readers import Readers
from masthead.sample_data.generate_values import SUBSCRIBERS_MAX

#: The "today" of the data.
REFERENCE_DATE = date(2026, 11, 1)

_SUBSCRIBERS_BETWEEN_WRITES = 500


class Files:
    """The import files of some tables in a new or empty folder, as a context manager.

    Entering raises BadInput for a folder that is not empty, so that no real data is overwritten,
    and for one that is not writable.
    """

    def __init__(self, directory: Path, tables: Iterable[str] = COLUMNS) -> None:
        self._directory = directory
        self._tables = tuple(tables)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Create the folder and the files with their headers."""
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
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the files."""
        self._open.close()

    def write(self, rows: dict[str, list[Row]]) -> None:
        """Write the rows of each table, and clear the lists."""
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
    advance: Callable[[int], None] | None = None,
) -> None:
    """Write the import files of a made-up publisher into ``directory``.

    Memory use does not grow with the number of subscribers. ``advance`` is called with the number
    of subscribers written so far. Raises BadInput for a folder that is not empty or not writable,
    and for more subscribers than there are renewal codes.
    """
    if subscribers > SUBSCRIBERS_MAX:
        raise BadInput(
            f"{subscribers} subscribers are too many: there are {SUBSCRIBERS_MAX} renewal codes "
            "of five characters."
        )
    publisher = Publisher(REFERENCE_DATE)
    readers = Readers(publisher, seed)
    with Files(directory) as files:
        files.write(publisher.rows())
        files.write(catalogue_rows(publisher.publications))
        for made in range(0, subscribers, _SUBSCRIBERS_BETWEEN_WRITES):
            batch = min(_SUBSCRIBERS_BETWEEN_WRITES, subscribers - made)
            for _ in range(batch):
                readers.add()
            files.write(readers.rows)
            if advance:
                advance(made + batch)
        files.write({"list_downloads": readers.list_rows()})
