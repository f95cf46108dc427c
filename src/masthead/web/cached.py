"""A property that is computed once for each object, without a lock.

``functools.cached_property`` has a lock in Python 3.11, one for the objects of all threads. So all
requests would wait while one of them asks the database for its account.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached(Generic[Value]):  # noqa: N801 - it is used like property
    """A property whose value is kept in its object. Objects belong to one thread at a time."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, _of: type, name: str) -> None:
        """Note the name, under which the value is kept."""
        self._name = name

    @overload
    def __get__(self, owner: None, of: type, /) -> Self: ...

    @overload
    def __get__(self, owner: object, of: type, /) -> Value: ...

    def __get__(self, owner: object | None, of: type, /) -> Self | Value:
        """Return the value, which Python finds in the object from then on."""
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._compute(owner)
        return value
