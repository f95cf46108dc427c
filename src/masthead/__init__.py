"""Masthead serves a publisher's subscribers, subscriptions, orders and mailing lists over HTTP.

The command line is `masthead`. :class:`Client` and :class:`AsyncClient` send requests to any
service with that interface. `masthead.errors` holds every error that the package raises.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from masthead.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "__version__"]

__version__ = "0.1.0.dev0"


if not TYPE_CHECKING:  # A type checker would then accept any name.

    def __getattr__(name: str) -> Any:
        """Import the clients on first use, since a server does not need them."""
        if name in {"AsyncClient", "Client"}:
            from masthead import client  # noqa: PLC0415

            return getattr(client, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
