"""Ids in the paths of pages."""

from starlette.convertors import IntegerConvertor, register_url_convertor

from masthead.contract.kinds import BIGGEST_INTEGER


class _Id(IntegerConvertor):
    """An id in a path, limited in its number of digits, since Python converts only so many."""

    regex = f"[0-9]{{1,{len(str(BIGGEST_INTEGER))}}}"


def limit_ids() -> None:
    """Let ``{id:int}`` in the paths of pages have at most as many digits as an id has."""
    register_url_convertor("int", _Id())
