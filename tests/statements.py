"""Records which SQL each test sends to PostgreSQL: ``STATEMENTS=FOLDER pytest --citus …``.

The tests then run on one PostgreSQL server, and none is left out. Each process writes its own file
of JSON lines: the test, the session, and the SQL, which is empty where a test begins.
``tests/house/citus.py`` reads them. A statement of the tests themselves is not recorded.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from masthead.databases.postgresql.session import Session, Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FOLDER = os.environ.get("STATEMENTS")

_CURRENT = "STATEMENTS_TEST"
_TESTS, _MASTHEAD = "/tests/", "/masthead/"
_DATABASES = "/masthead/databases/"


def name_test(node_id: str) -> None:
    """Attribute what follows to a test, also what its processes and servers send."""
    if FOLDER:
        os.environ.setdefault(_CURRENT, f"{FOLDER}/{os.getpid()}.test")
        # Replaced at once: a server of the tests may read it at any time.
        new = Path(f"{os.environ[_CURRENT]}.new")
        new.write_text(node_id, "utf-8")
        new.replace(os.environ[_CURRENT])
        _append([[node_id, "", ""]])


def record() -> None:
    """Record what sessions of this process send, if the environment asks for it."""
    if not FOLDER:
        return
    send = Session._send

    def sending(self: Session, statements: Sequence[Statement], added: list[Any]) -> list[Any]:
        _write(self, (each.sql.decode() for each in statements))
        return send(self, statements, added)

    Session._send = sending  # type: ignore[method-assign]
    for name in ("execute", "executemany", "stream", "copy"):
        setattr(psycopg.Cursor, name, _recorded(getattr(psycopg.Cursor, name)))


def _recorded(method: Callable[..., Any]) -> Callable[..., Any]:
    def recording(self: psycopg.Cursor[Any], query: str | bytes, *rest: Any, **options: Any) -> Any:
        if isinstance(self.connection, Session):
            _write(self.connection, [query.decode() if isinstance(query, bytes) else str(query)])
        return method(self, query, *rest, **options)

    return recording


def _write(session: Session, statements: Iterable[str]) -> None:
    if _CURRENT not in os.environ or not _is_sent_by_masthead():
        return
    test = Path(os.environ[_CURRENT]).read_text("utf-8")
    _append([test, f"{os.getpid()}-{id(session)}", sql] for sql in statements)


def _append(rows: Iterable[list[str]]) -> None:
    with Path(f"{FOLDER}/{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)


def _is_sent_by_masthead() -> bool:
    frame = sys._getframe(2)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        if _MASTHEAD in name and _DATABASES not in name:
            return True
        if _TESTS in name and not name.endswith("statements.py"):
            return False
        frame = frame.f_back
    return True
