"""Rows that leave a query with types: the columns and the values that they take."""

from typing import NamedTuple

import pytest

from masthead.store.database import Store


class _Pair(NamedTuple):
    """Two columns."""

    number: int
    text: str | None


_TWO = "SELECT 1 AS n, 'one' AS t UNION ALL SELECT 2, NULL ORDER BY 1"


def test_rows_are_records_in_the_order_of_the_columns(opened: Store) -> None:
    """``rows_as`` returns all rows, ``row_as`` the only one or None."""
    with opened.writer() as connection:
        assert connection.rows_as(_Pair, _TWO) == [_Pair(1, "one"), _Pair(2, None)]
        assert connection.row_as(_Pair, f"{_TWO} LIMIT 1") == _Pair(1, "one")
        assert connection.row_as(_Pair, "SELECT 1, 'one' WHERE 1 = 0") is None


def test_several_rows_for_one_are_refused(opened: Store) -> None:
    """A query that lost its condition gives no row of somebody else."""
    with opened.writer() as connection, pytest.raises(ValueError, match="too many values"):
        connection.row_as(_Pair, _TWO)


def test_another_number_of_columns_is_refused(opened: Store) -> None:
    """No record is made of too few columns or too many."""
    with opened.writer() as connection:
        for columns in ("1", "1, 'one', 2"):
            with pytest.raises(TypeError):
                connection.rows_as(_Pair, f"SELECT {columns}")
            with pytest.raises(TypeError):
                connection.row_as(_Pair, f"SELECT {columns}")
        with pytest.raises(ValueError, match="too many values"):
            connection.column_as(int, "SELECT 1, 2")
        with pytest.raises(ValueError, match="too many values"):
            connection.value_as(int, "SELECT 1, 2")


def test_a_value_has_its_type_on_both_databases(opened: Store) -> None:
    """A sum is a whole number, a comparison true or false, and null is None."""
    with opened.writer() as connection:
        total = connection.value_as(int, f"SELECT sum(x.n) FROM ({_TWO}) AS x")
        assert (total, type(total)) == (3, int)
        assert connection.value_as(str, "SELECT NULL WHERE 1 = 1") is None
        assert connection.value_as(int, "SELECT 1 WHERE 1 = 0") is None
        assert connection.column_as(int, f"SELECT x.n FROM ({_TWO}) AS x ORDER BY 1") == [1, 2]
