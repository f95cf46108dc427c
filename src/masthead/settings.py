"""Each setting once: its name, default, unit and meaning.

A setting is a flag of the commands that use it (``--port``) and an environment variable of the
same name (``MASTHEAD_PORT``); the flag wins. A secret is a variable alone. The table in the docs is
made from this list.
"""

from typing import NamedTuple

__all__ = ["SETTINGS", "Setting"]


class Setting(NamedTuple):
    """A setting; ``default`` None means that there is none.

    ``variable_name`` is the variable's name where it is not the flag's. One that ``is_secret`` has
    no flag: everybody on a machine may read its command lines.
    """

    name: str
    default: str | int | bool | None
    meaning: str
    variable_name: str | None = None
    is_secret: bool = False

    @property
    def flag(self) -> str:
        """The flag, ``--behind-proxy``; "" where there is none."""
        return "" if self.is_secret else f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The environment variable, ``MASTHEAD_BEHIND_PROXY``."""
        return self.variable_name or f"MASTHEAD_{self.name.upper()}"


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
        Setting(
            "secret_key",
            None,
            "Key of the database's secrets, 64 hexadecimal digits; an embedded database has it in "
            "a file beside it instead.",
            is_secret=True,
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
        Setting(
            "temporary_space",
            4096,
            "MiB of temporary files in which long answers wait for their clients to read them, in "
            "all workers; those of an account fill at most half of it.",
        ),
        Setting("rate_limit", 0, "Requests a second that each account may make; 0 is any number."),
        Setting(
            "feed_overlap",
            0,
            "Seconds by which the change feed begins earlier than asked, for clients whose clock "
            "is ahead.",
        ),
        Setting(
            "login_failures",
            10,
            "Wrong guesses in 15 minutes after which a login is refused for a while; 0: no limit.",
        ),
        Setting(
            "account_failures",
            600,
            "Wrong guesses in an hour after which all logins of an account are; 0: no limit.",
        ),
        Setting(
            "behind_proxy",
            False,
            "A proxy in front of this server speaks TLS: no warning about plain HTTP.",
        ),
        Setting("certificate", None, "TLS certificate file (PEM), to serve HTTPS without a proxy."),
        Setting("certificate_key", None, "Private key file (PEM) of the certificate."),
        Setting("reject", None, "Folder for the rows that cannot be loaded; the others are."),
        Setting(
            "for_spreadsheets",
            False,
            "Write cells so that a spreadsheet takes none for a formula; such files are not for "
            "import.",
        ),
        Setting("subscribers", 1000, "Number of subscribers to make up."),
        Setting(
            "seed", 1, "Number that decides all that is made up: the same one, the same files."
        ),
        Setting("to", None, "URL of the database that holds the copy."),
        Setting("key", None, "The account's api_key at the service.", "MASTHEAD_API_KEY"),
        Setting("login", None, "The account's api_login at the service.", "MASTHEAD_API_LOGIN"),
        Setting("every", "60s", "Time from one pass of the mirror to the next: 60s, 5m, 1h."),
        Setting("once", False, "End after one pass of the mirror."),
    )
}
