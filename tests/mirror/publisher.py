"""Publishers of a running Masthead: each an account, loaded without a process between."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from masthead.contract.records import TABLES_BY_NAME
from masthead.loading.export import export
from masthead.loading.load import load
from masthead.store import accounts, removing
from tests.servers import write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from masthead.store import Store


@dataclass(frozen=True)
class Publisher:
    """An account, and the credentials with which the service is asked for its data."""

    store: Store
    database: str
    url: str
    account_id: int
    folder: Path
    key: str
    login: str
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def add(self, **settings: Any) -> None:
        """Add the account to the database."""
        keys = {"api_key": self.key, "api_login": self.login}
        accounts.add_account(self.store, {"account_id": self.account_id, **keys, **settings})

    def set(self, **settings: Any) -> None:
        """Change the account's settings."""
        accounts.set_account(self.store, self.account_id, settings)

    def with_key(self, key: str, login: str | None = None) -> Publisher:
        """Return the same one, asked with other credentials."""
        return replace(self, key=key, login=login or self.login)

    def behind(self, url: str) -> Publisher:
        """Return the same one, asked at another address."""
        return replace(self, url=url)

    def load(self, **files: Sequence[Mapping[str, Any]]) -> None:
        """Load records, named by their kind."""
        folder = self.folder / f"load-{self.account_id}-{next(self._numbers)}"
        write_ndjson(folder, files)
        self.load_folder(folder)

    def load_folder(self, folder: Path) -> None:
        """Load a folder of files."""
        load(self.store, [folder], account_id=self.account_id)

    def remove(self, **records: Iterable[int]) -> None:
        """Remove records, named by their kind."""
        for name, ids in records.items():
            keys = [(number,) for number in ids]
            removing.remove_records(self.store, self.account_id, TABLES_BY_NAME[name], keys)

    def export(self) -> Path:
        """Return a folder with the files of `masthead export`."""
        folder = self.folder / f"export-{self.account_id}-{next(self._numbers)}"
        export(self.store, folder, account_id=self.account_id)
        return folder
