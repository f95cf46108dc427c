"""``masthead mirror``, but wrong: it takes a broken response for a whole one, time included."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from masthead.cli import main
from masthead.errors import ServiceError
from masthead.mirror import applying, sync_pass
from tests.feed.restless import do_not_wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from masthead.client import Client
    from masthead.mirror import Copy, State
    from masthead.mirror.applying import Applied


def _until_it_breaks(records: Iterable[Any]) -> Iterator[Any]:
    with suppress(ServiceError):
        yield from records


def _apply_what_came(copy: Copy, records: Iterable[Any], request: str, **options: Any) -> Applied:
    return applying.apply(copy, _until_it_breaks(records), request, **options)


def _no_deletions(_client: Client, _state: State) -> None:
    return None


def _in_spite_of_all(keep: Callable[..., None]) -> Callable[..., None]:
    def kept(*arguments: object) -> None:
        with suppress(ServiceError):
            keep(*arguments)

    return kept


if __name__ == "__main__":
    vars(sync_pass)["apply"] = _apply_what_came
    vars(sync_pass)["deletions_since"] = _no_deletions
    for name in ("_keep_definitions", "_keep_entries"):
        setattr(sync_pass.Mirror, name, _in_spite_of_all(getattr(sync_pass.Mirror, name)))
    do_not_wait()
    main()
