"""Starts every peer, checks its answers against Masthead's, and prints a quick rate of each work.

``python -m benchmarks.peers``: a look at the peers in a minute, no measurement to rely on.
"""

import argparse
import csv
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from benchmarks.databases import STORES, fresh, place, stores_in
from benchmarks.machine import GENERATOR_CORE
from benchmarks.peers import PEERS, Peer, check_same, paths_of, running_peer
from benchmarks.processes import ask, running
from benchmarks.publisher import ACCOUNT_ID, PATHS, SUBSCRIBERS_MIN, fill, make_files, paths


def work_of(files: Path) -> dict[str, list[str]]:
    """Return the paths of each kind of work, by its name."""
    orders, lists = paths(files)
    with (files / "subscribers.csv").open(encoding="utf-8", newline="") as lines:
        subscribers = [row for row in csv.DictReader(lines) if not row["delete_date"]]
    logins = [
        {"login": row["email"], "password": f"password-{row['subscriber_id']}"}
        for row in subscribers
        if row["password_md5"]
    ]
    return {
        "order": orders,
        "list": lists,
        "answers": [f"/2/customfields/{row['subscriber_id']}" for row in subscribers[:PATHS]],
        "account": [f"/2/accounts/{ACCOUNT_ID}/"],
        "login": [f"/2/subscribers/authenticate/?{urlencode(login)}" for login in logins[:PATHS]],
    }


def try_out(store: str, peers: list[Peer], files: Path, seconds: float) -> None:
    """Check and ask the peers on a store, and print a line of the table for each."""
    work = work_of(files)
    with ExitStack() as stack:
        home = stack.enter_context(place(store, core=GENERATOR_CORE))
        database = stack.enter_context(fresh(home, "peers"))
        fill(database, files)
        log = files.parent / "log"
        ours = stack.enter_context(running("masthead", database, files.parent / "masthead.log"))
        rates = [f"{ask(ours, asked, seconds).rate:,.0f}" for asked in work.values()]
        print(f"| {STORES[store]}, Masthead | {' | '.join(rates)} |", flush=True)
        for peer in peers:
            if store not in peer.stores:
                continue
            rates = []
            with running_peer(peer, database, log) as theirs:
                for name, asked in work.items():
                    if name not in peer.work:
                        rates.append("")
                        continue
                    check_same(peer, name, asked, ours, theirs)
                    rates.append(f"{ask(theirs, paths_of(peer, name, asked), seconds).rate:,.0f}")
            print(f"| {STORES[store]}, {peer.title} | {' | '.join(rates)} |", flush=True)


def main() -> None:
    """Try all of them, and print the table; exit with 1 where an answer differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--peers", default=",".join(peer.name for peer in PEERS))
    parser.add_argument("--subscribers", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=1, help="of each rate")
    given = parser.parse_args()
    if given.subscribers < SUBSCRIBERS_MIN or given.seconds <= 0:
        parser.error(f"at least {SUBSCRIBERS_MIN} subscribers and some time are needed")
    peers = [peer for peer in PEERS if peer.name in given.peers.split(",")]
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"| requests/s | {' | '.join(PEERS[0].work)} |")
    print(f"| --- |{' ---: |' * len(PEERS[0].work)}")
    with TemporaryDirectory() as name:
        files = Path(name) / "files"
        make_files(files, given.subscribers)
        for store in given.stores:
            try_out(store, peers, files, given.seconds)


if __name__ == "__main__":
    main()
