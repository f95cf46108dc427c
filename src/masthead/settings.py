"""Each setting once: its name, default, unit and meaning.

A setting is a flag of the commands that use it (``--port``) and an environment variable of the
same name (``MASTHEAD_PORT``); the flag wins. The table in the docs is made from this list.
"""

from typing import NamedTuple

__all__ = ["SETTINGS", "Setting"]


class Setting(NamedTuple):
    """A setting; ``default`` None means that there is none."""

    name: str
    default: str | int | bool | None
    meaning: str

    @property
    def flag(self) -> str:
        """The flag, ``--behind-proxy``."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The environment variable, ``MASTHEAD_BEHIND_PROXY``."""
        return f"MASTHEAD_{self.name.upper()}"


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting(
            "database",
            "sqlite:///masthead.db",
            "URL of the database, made and migrated if need be.",
        ),
        Setting(
            "read_database",
            None,
            "URL of a PostgreSQL replica of the database, which answers all requests in its place.",
        ),
        Setting("account", None, "Id of the account whose data it is."),
        Setting("host", "127.0.0.1", "Address to listen at."),
        Setting("port", 8000, "TCP port to listen at; 0 takes any that is free."),
        Setting("workers", 1, "Number of server processes."),
        Setting("log_format", "text", "Form of the log's lines: text, or json."),
        Setting(
            "metrics_port",
            None,
            "TCP port of this machine alone at which GET /metrics answers; 0 takes any free one.",
        ),
        Setting("rate_limit", 0, "Requests a second that each account may make; 0 is any number."),
        Setting(
            "feed_overlap",
            0,
            "Seconds by which the change feed begins earlier than asked, for clients whose clock "
            "is ahead.",
        ),
        Setting(
            "behind_proxy",
            False,
            "A proxy in front of this server speaks TLS: no warning about plain HTTP.",
        ),
        Setting("certificate", None, "TLS certificate file (PEM), to serve HTTPS without a proxy."),
        Setting("certificate_key", None, "Private key file (PEM) of the certificate."),
        Setting("reject", None, "Folder for the rows that cannot be loaded; the others are."),
        Setting("subscribers", 1000, "Number of subscribers to make up."),
        Setting(
            "seed", 1, "Number that decides all that is made up: the same one, the same files."
        ),
    )
}
