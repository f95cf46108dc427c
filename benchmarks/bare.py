"""What the database alone can do: the queries of an order or of a list, again and again.

``python -m benchmarks.bare DATABASE SECONDS AUTHORIZATION < paths`` asks for what the answer to
each path needs, over one connection, with prepared statements. On PostgreSQL there is nothing
around the queries. On SQLite, whose queries alone would be no measure of an answer, the rows are
also encoded as Masthead encodes them, and go through a pair of sockets within the process: that is
the least that any server of this interface in Python has to do. It prints the number of answers
and the seconds that they took.
"""

import itertools
import re
import socket
import sys
import time
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import apsw
import psycopg

from benchmarks.databases import is_postgresql
from benchmarks.machine import SERVER_CORE, pin
from benchmarks.publisher import LIST
from masthead.contract import shapes
from masthead.contract.encoding import encode, wire_of
from masthead.store import open_store
from masthead.store.reading import columns_of

_ACCOUNT = """
    SELECT k.login_hash, k.ends_at, a.active, a.api_active, a.account_id, a.is_master
    FROM api_keys AS k JOIN accounts AS a ON a.account_id = k.account_id WHERE k.key_hash = %s
    """
_ORDER = f"""
    SELECT {columns_of(shapes.Order)} FROM orders WHERE account_id = %s AND order_id = %s
    """
_ITEMS = f"""
    SELECT {columns_of(shapes.OrderItem)} FROM order_items
    WHERE account_id = %s AND order_id = %s ORDER BY order_item_id
    """
_SUBSCRIPTIONS = f"""
    SELECT {columns_of(shapes.Subscription)} FROM subscriptions
    WHERE account_id = %s AND subscription_id > %s ORDER BY subscription_id LIMIT {LIST}
    """
_OF_AN_ORDER = (_ORDER, _ITEMS)
_OF_A_LIST = (_SUBSCRIPTIONS,)
_NUMBER = re.compile(r"\d+$")
_BUFFER_BYTES = 1_048_576

Rows = list[tuple[Any, ...]]
Ask = Callable[[str, tuple[Any, ...]], Rows]
_make_order, _make_item, _make_subscription = map(
    wire_of, (shapes.Order, shapes.OrderItem, shapes.Subscription)
)


def _encoded(found: list[Rows]) -> bytes:
    """Return the body of the answer: an order and its items, or a list of subscriptions."""
    if len(found) > 1:
        (order,), items = found
        return encode(_make_order(*order, [_make_item(*item) for item in items]))
    return encode({"subscriptions": [_make_subscription(*row) for row in found[0]]})


def _on_postgresql(database: str) -> Ask:
    cursor = psycopg.connect(database, autocommit=True, prepare_threshold=0).cursor()
    return lambda sql, values: cursor.execute(sql.encode(), values).fetchall()


def _on_sqlite(database: str) -> Ask:
    connection = apsw.Connection(
        database.removeprefix("sqlite:///"), flags=apsw.SQLITE_OPEN_READONLY
    )
    # As Masthead's own connection has it.
    connection.execute("PRAGMA mmap_size = 268435456")
    return lambda sql, values: connection.execute(sql.replace("%s", "?"), values).fetchall()


def _sender() -> Callable[[bytes], None]:
    ours, theirs = socket.socketpair()
    buffer = bytearray(_BUFFER_BYTES)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)

    def send(body: bytes) -> None:
        ours.sendall(body)
        missing = len(body)
        while missing:
            missing -= theirs.recv_into(buffer)

    return send


def main() -> None:
    """Measure, and print the answers and the seconds."""
    database, seconds = sys.argv[1], float(sys.argv[2])
    key = b64decode(sys.argv[3].removeprefix("Basic ")).decode().partition(":")[0]
    key_hash = open_store(database).secret.fingerprint("api", key)
    pin(SERVER_CORE)
    questions = []
    for path in sys.stdin.read().split():
        number = _NUMBER.search(path)
        assert number
        statements = _OF_AN_ORDER if path.startswith("/2/orders/") else _OF_A_LIST
        questions.append((int(number[0]), statements))
    ask = _on_postgresql(database) if is_postgresql(database) else _on_sqlite(database)
    send = None if is_postgresql(database) else _sender()

    def answer(number: int, statements: tuple[str, ...]) -> None:
        ((_, _, _, _, account_id, *_),) = ask(_ACCOUNT, (key_hash,))
        found = [ask(statement, (account_id, number)) for statement in statements]
        if not all(found):
            raise SystemExit(f"nothing is found for {number}")
        if send:
            send(_encoded(found))

    answer(*questions[0])
    answers, taken, start = 0, 0.0, time.perf_counter()
    in_turn = itertools.cycle(questions)
    while taken < seconds:
        answer(*next(in_turn))
        answers += 1
        taken = time.perf_counter() - start
    print(answers, taken)


if __name__ == "__main__":
    main()
