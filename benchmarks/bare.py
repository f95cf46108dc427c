"""What psycopg alone can do: the queries of an order or of a list, again and again.

``python -m benchmarks.bare DATABASE SECONDS AUTHORIZATION < paths`` asks PostgreSQL for what the
answer to each path needs, over one connection, with prepared statements and nothing around them.
It prints the number of answers and the seconds that they took.
"""

import itertools
import re
import sys
import time
from base64 import b64decode

import psycopg

from benchmarks.machine import SERVER_CORE, pin
from benchmarks.publisher import LIST
from masthead.contract import shapes
from masthead.store.reading import columns_of
from masthead.store.secret import Secret

_ACCOUNT = b"""
    SELECT k.login_hash, k.ends_at, a.active, a.api_active, a.account_id, a.is_master
    FROM api_keys AS k JOIN accounts AS a ON a.account_id = k.account_id WHERE k.key_hash = %s
    """
_ORDER = f"""
    SELECT {columns_of(shapes.Order)} FROM orders WHERE account_id = %s AND order_id = %s
    """.encode()
_ITEMS = f"""
    SELECT {columns_of(shapes.OrderItem)} FROM order_items
    WHERE account_id = %s AND order_id = %s ORDER BY order_item_id
    """.encode()
_SUBSCRIPTIONS = f"""
    SELECT {columns_of(shapes.Subscription)} FROM subscriptions
    WHERE account_id = %s AND subscription_id > %s ORDER BY subscription_id LIMIT {LIST}
    """.encode()
_OF_AN_ORDER = (_ORDER, _ITEMS)
_OF_A_LIST = (_SUBSCRIPTIONS,)
_NUMBER = re.compile(r"\d+$")


def main() -> None:
    """Measure, and print the answers and the seconds."""
    database, seconds = sys.argv[1], float(sys.argv[2])
    key = b64decode(sys.argv[3].removeprefix("Basic ")).decode().partition(":")[0]
    key_hash = Secret(None).fingerprint("api", key)
    pin(SERVER_CORE)
    questions = []
    for path in sys.stdin.read().split():
        number = _NUMBER.search(path)
        assert number
        statements = _OF_AN_ORDER if path.startswith("/2/orders/") else _OF_A_LIST
        questions.append((int(number[0]), statements))
    with psycopg.connect(database, autocommit=True, prepare_threshold=0) as connection:
        cursor = connection.cursor()

        def ask(number: int, statements: tuple[bytes, ...]) -> None:
            _, _, _, _, account_id, *_ = cursor.execute(_ACCOUNT, (key_hash,)).fetchall()[0]
            for statement in statements:
                if not cursor.execute(statement, (account_id, number)).fetchall():
                    raise SystemExit(f"nothing is found for {number}")

        ask(*questions[0])
        answers, taken, start = 0, 0.0, time.perf_counter()
        in_turn = itertools.cycle(questions)
        while taken < seconds:
            ask(*next(in_turn))
            answers += 1
            taken = time.perf_counter() - start
    print(answers, taken)


if __name__ == "__main__":
    main()
