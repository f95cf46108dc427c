"""Which files are loaded into which account, and when: folders of accounts, and marker files."""

import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.records import ACCOUNTS
from masthead.errors import BadInput, BadUsage
from masthead.loading.sources import stem_and_format
from masthead.store import Store, loads

POLL_S = 5
"""Seconds between two checks for marker files."""


MAPPING = "mapping.toml"
"""The name of the mapping file in the folder of an account."""


class Delivery(NamedTuple):
    """Files and folders, and the account that they are loaded into; None for files of accounts.

    ``mapping`` is the mapping file in the account's own folder, if there is one.
    """

    account_id: int | None
    paths: Sequence[Path]
    mapping: Path | None = None


class Ready(NamedTuple):
    """A delivery, and the time of its marker file; None if the marker has not come in time."""

    delivery: Delivery
    marker_at: int | None


def deliveries(paths: Sequence[Path], account_id: int | None) -> list[Delivery]:
    """Return the deliveries to load, by account.

    Without ``account_id``, a folder whose sub-folders have numbers as names is a delivery for each
    of these accounts, by ascending number; its other sub-folders are ignored. Raises BadUsage if
    the folder also has files to load.
    """
    if account_id is not None:
        return [Delivery(account_id, paths)]
    found = [delivery for path in paths for delivery in _of_accounts(path)]
    if not found:
        return [Delivery(None, paths)]
    for path in paths:
        beside = [*path.iterdir()] if path.is_dir() else [path]
        files = [each for each in beside if not each.is_dir() and stem_and_format(each)[1]]
        if files or not _of_accounts(path):
            raise BadUsage(
                f"{(files or [path])[0]}: there are folders of accounts beside it; load it by "
                "itself, into the account whose data it is",
                code="whose_data",
            )
    return found


def _of_accounts(path: Path) -> list[Delivery]:
    inside = [each for each in path.iterdir() if each.is_dir()] if path.is_dir() else []
    numbers = {
        int(each.name): each
        for each in inside
        if each.name.isascii() and each.name.isdecimal() and str(int(each.name)) == each.name
    }
    return [
        Delivery(number, (folder,), mapping if _is_there(mapping := folder / MAPPING) else None)
        for number, folder in sorted(numbers.items())
        if number <= BIGGEST_INTEGER
    ]


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def check_account_folder(folder: Path) -> None:
    """Raise BadInput if an account's folder is a link, or has a file of accounts.

    So the sender of an account's data cannot change or read another account.
    """
    if folder.is_symlink():
        raise BadInput(
            f"{folder}: is a symbolic link, and an account's folder is none: load the folder "
            "itself into the account",
            code="whose_data",
        )
    for path in sorted(folder.iterdir()):
        if stem_and_format(path)[0] == ACCOUNTS.name and stem_and_format(path)[1]:
            raise BadInput(f"{path}: an account's folder has no accounts: load them by themselves")


def ready_deliveries(
    store: Store,
    waiting: Sequence[Delivery],
    marker: str,
    *,
    wait_s: float,
    pause: Callable[[float], None] = sleep,
    clock: Callable[[], float] = monotonic,
) -> Iterator[Ready]:
    """Yield each delivery as soon as its folder has a new file ``marker``.

    A marker is new if its time differs from the marker's time in the record of the account's last
    load that waited for one, for any result of that load. An earlier time is new too, since
    the clocks of file servers may be wrong. A link is not a marker. After ``wait_s`` seconds, the
    remaining deliveries are yielded without a time. Raises BadUsage if a delivery is not one
    folder, or if the marker could be a file of data; StoreUnavailable if the record of loads
    cannot be read.
    """
    if marker in {"", ".", ".."} or "/" in marker or stem_and_format(Path(marker))[1]:
        raise BadUsage(
            f"{marker!r} cannot be a marker: give the name of a file without data, such as _DONE",
            code="unsuitable_marker",
        )
    for delivery in waiting:
        if delivery.account_id is None or len(delivery.paths) != 1 or delivery.paths[0].is_file():
            raise BadUsage(
                "a marker is waited for in one folder of an account, or in one of such folders",
                code="unsuitable_marker",
            )
    ends_at = clock() + wait_s
    while True:
        is_last_look = clock() >= ends_at
        late = []
        for delivery in waiting:
            account_id, (folder,), _ = delivery
            marker_at = _changed_at(folder / marker)
            if marker_at not in {None, loads.last_marker(store, account_id or 0)}:
                yield Ready(delivery, marker_at)
            else:
                late.append(delivery)
        waiting = late
        if not waiting or is_last_look:
            break
        pause(max(0, min(POLL_S, ends_at - clock())))
    yield from (Ready(delivery, None) for delivery in waiting)


def _changed_at(path: Path) -> int | None:
    """Return when a regular file was changed, in microseconds since 1970, or None."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mtime_ns // 1_000 if stat.S_ISREG(found.st_mode) else None
