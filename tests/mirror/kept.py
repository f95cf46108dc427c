"""A copy that the mirror keeps, looked at and damaged with plain SQL."""

from __future__ import annotations

from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import apsw
import duckdb
import psycopg

from masthead import Client
from masthead.mirror import Mirror, Pass, Verified, open_copy, verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = tuple[Any, ...]

TABLES = (
    "custom_fields",
    "custom_field_values",
    "subscriptions",
    "subscribers",
    "addresses",
    "purchases",
    "list_downloads",
    "orders",
    "order_items",
    "custom_field_definitions",
    "custom_field_options",
    "mailing_list_entries",
)


class Source(Protocol):
    """A service and the credentials for it."""

    @property
    def url(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def login(self) -> str: ...


class Kept:
    """The copy in a database, which need not exist yet."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.kind = url.partition(":")[0]

    def ask(self, sql: str) -> list[Row]:
        """Return what a query finds."""
        return self.ask_all(sql)[0]

    @property
    def path(self) -> Path:
        """The file or the folder."""
        return Path(
            self.url.partition("://")[2].removeprefix("/" if self.kind != "parquet" else "")
        )

    def ask_all(self, *queries: str) -> list[list[Row]]:
        """Return what each query finds."""
        with self.connected() as connection:
            return [[tuple(row) for row in connection.execute(sql).fetchall()] for sql in queries]

    def run(self, *statements: str) -> None:
        """Change the copy behind the mirror's back."""
        with self.connected() as connection:
            for statement in statements:
                connection.execute(statement)
            if self.kind == "parquet":
                self._write_files(connection)

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """Connect as anybody would who reads the copy: for Parquet, with a copy of each file."""
        connection: Any
        match self.kind:
            case "sqlite":
                connection = apsw.Connection(str(self.path))
            case "postgresql":
                connection = psycopg.connect(self.url, autocommit=True)
            case "duckdb":
                connection = duckdb.connect(self.path)
            case _:
                connection = duckdb.connect()
                for file in (self.path / "current").resolve().glob("*.parquet"):
                    connection.execute(f"CREATE TABLE {file.stem} AS FROM read_parquet('{file}')")
        with closing(connection):
            yield connection

    def _write_files(self, connection: Any) -> None:
        """Replace the files of the version. Other versions have links to the old ones."""
        version = (self.path / "current").resolve()
        for (table,) in connection.execute("SHOW TABLES").fetchall():
            file = version / f"{table}.parquet"
            file.unlink(missing_ok=True)
            connection.execute(f"COPY {table} TO '{file}' (FORMAT parquet)")

    def column(self, sql: str) -> list[Any]:
        """Return the first column of what a query finds."""
        return [row[0] for row in self.ask(sql)]

    def everything(self) -> dict[str, list[Row]]:
        """Return all rows of all tables, the time of the copy among them.

        Not the last column, which says since when a row is as it is.
        """
        tables = ("mirror", *TABLES)
        found = self.ask_all(*(f"SELECT * FROM {table}" for table in tables))
        return {
            table: sorted((row[:-1] for row in rows), key=repr)
            for table, rows in zip(tables, found, strict=True)
        }

    @contextmanager
    def mirrored(
        self,
        source: Source,
        *,
        history: bool = False,
        unearned: bool = False,
        entities: Sequence[str] = (),
    ) -> Iterator[Mirror]:
        """Open the service and the copy; what does not answer is not asked again."""
        with (
            Client(source.url, source.key, source.login, patience_s=0) as client,
            closing(open_copy(self.url, history=history, unearned=unearned)) as copy,
        ):
            yield Mirror(client, source.url, source.key, copy, entities=entities)

    def update(
        self,
        source: Source,
        *,
        history: bool = False,
        unearned: bool = False,
        entities: Sequence[str] = (),
    ) -> Pass:
        """Make a pass, which may begin the history, unearned revenue, or some entities."""
        with self.mirrored(source, history=history, unearned=unearned, entities=entities) as mirror:
            return mirror.run()

    def start_from_export(self, source: Source, folder: Path) -> bool:
        """Begin with the files of an export."""
        with self.mirrored(source) as mirror:
            return mirror.start_from_export(folder)

    def verify(self, source: Source, *, repair: bool = False) -> Verified:
        """Compare it with the service, and make it right where it differs."""
        with self.mirrored(source) as mirror:
            return verify(mirror, repair=repair)

    def differences(self, source: Source) -> list[str]:
        """Return what differs, as words: ``missing: orders 71``."""
        return [
            f"{kind}: {table} {'/'.join(map(str, key))}"
            for table, kind, key in self.verify(source).differences
        ]
