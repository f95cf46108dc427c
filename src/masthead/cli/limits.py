"""Row limits as option values."""

import click

from masthead.loading.limits import Limit


class LimitOfRows(click.ParamType[Limit]):
    """A number of rows, or a share of them."""

    name = "limit"

    def convert(
        self, value: str | Limit, param: click.Parameter | None, ctx: click.Context | None
    ) -> Limit:
        """Return the limit."""
        if isinstance(value, Limit):
            return value
        try:
            return Limit.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
