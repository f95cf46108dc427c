"""All settings: their names, types, limits, defaults and meanings.

A setting is a flag of the commands that use it (``--port``) and an environment variable of the
same name (``MASTHEAD_PORT``); the flag takes precedence. A secret has no flag. The options of the
commands and the table in the docs are generated from this list.

The settings of a server are the fields of :class:`ServerSettings`: add a new one there.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args, get_type_hints

import msgspec
from msgspec import Meta

from masthead.errors import BadUsage


class Setting(NamedTuple):
    """A setting; ``default`` is None if it has no default.

    ``value_type`` is str, int, bool or a Literal of the possible strings. The limits of an int may
    be None. ``variable_name`` is the variable's name if it differs from the flag's. A setting that
    ``is_secret`` has no flag: all users of a machine may read its command lines.
    """

    name: str
    default: str | int | bool | None
    meaning: str
    value_type: Any = str
    at_least: int | None = None
    at_most: int | None = None
    variable_name: str | None = None
    is_secret: bool = False

    @property
    def flag(self) -> str:
        """The flag, such as ``--behind-proxy``; "" if there is none."""
        return "" if self.is_secret else f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The environment variable, such as ``MASTHEAD_BEHIND_PROXY``."""
        return self.variable_name or f"MASTHEAD_{self.name.upper()}"

    @property
    def choices(self) -> tuple[str, ...]:
        """The possible strings of a Literal; () for other types."""
        return get_args(self.value_type)

    def parse(self, text: str) -> Any:
        """Return the value of the environment variable; raise BadUsage if it is invalid."""
        limits = Meta(ge=self.at_least, le=self.at_most)
        wanted = Annotated[int, limits] if self.value_type is int else self.value_type
        try:
            return msgspec.convert(text, wanted, strict=False)
        except msgspec.ValidationError:
            raise BadUsage(f"{self.variable} is {text!r}; it has to be {self._range()}") from None

    def _range(self) -> str:
        if self.value_type is bool:
            return "true or false"
        if self.choices:
            return " or ".join(self.choices)
        most = "" if self.at_most is None else f" and at most {self.at_most}"
        return f"a whole number of at least {self.at_least}{most}"


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a server."""

    database: Annotated[
        str, Meta(description="URL of the database: a file, or a database of PostgreSQL.")
    ] = "sqlite:///masthead.db"
    read_database: Annotated[
        str | None,
        Meta(
            description="URL of a PostgreSQL replica of the database, which answers all requests "
            "in its place."
        ),
    ] = None
    host: Annotated[str, Meta(description="Address to listen at.")] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65_535, description="TCP port to listen at; 0 takes any that is free.")
    ] = 8000
    workers: Annotated[int, Meta(ge=1, description="Number of server processes.")] = 1
    log_format: Annotated[
        Literal["text", "json"], Meta(description="Form of the log's lines: text, or json.")
    ] = "text"
    metrics_port: Annotated[
        int | None,
        Meta(
            ge=0,
            le=65_535,
            description="TCP port of this machine alone at which GET /metrics answers; 0 takes any "
            "free one.",
        ),
    ] = None
    temporary_space: Annotated[
        int,
        Meta(
            ge=1,
            description="MiB of temporary files in which long responses wait for their clients to "
            "read them, in all workers; those of an account fill at most half of it.",
        ),
    ] = 4096
    rate_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Requests a second that each account may make; 0 is any number.",
        ),
    ] = 0
    feed_overlap: Annotated[
        int,
        Meta(
            ge=0,
            le=86_400,
            description="Seconds by which the change feed begins earlier than requested, for "
            "clients whose clock is ahead.",
        ),
    ] = 0
    login_failures: Annotated[
        int,
        Meta(
            ge=0,
            description="Wrong guesses in 15 minutes after which a login is refused for a while; "
            "0: no limit.",
        ),
    ] = 10
    account_failures: Annotated[
        int,
        Meta(
            ge=0,
            description="Wrong guesses in an hour, at emails or at renewal codes, after which "
            "all such logins of an account are refused, except emails that have "
            "logged in before; 0: no limit.",
        ),
    ] = 600
    behind_proxy: Annotated[
        bool,
        Meta(
            description="A proxy in front of this server speaks TLS, and names the client in "
            "X-Forwarded-For or Forwarded."
        ),
    ] = False
    asgi_only: Annotated[
        bool,
        Meta(
            description="Send all responses as any ASGI server does; slower, for tests of Masthead."
        ),
    ] = False
    certificate: Annotated[
        str | None, Meta(description="TLS certificate file (PEM), to serve HTTPS without a proxy.")
    ] = None
    certificate_key: Annotated[
        str | None, Meta(description="Private key file (PEM) of the certificate.")
    ] = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the settings of the environment variables; raise BadUsage for an invalid value."""
        given = {
            setting.name: setting.parse(text)
            for setting in _of_server()
            if (text := environment.get(setting.variable))
        }
        return cls(**given)


def _of_server() -> Iterator[Setting]:
    hints = get_type_hints(ServerSettings, include_extras=True)
    defaults = dict(
        zip(ServerSettings.__struct_fields__, ServerSettings.__struct_defaults__, strict=True)
    )
    for name, hint in hints.items():
        optional, meta = get_args(hint)
        of_type = next(
            (one for one in get_args(optional) if isinstance(one, type) and one is not type(None)),
            optional,
        )
        yield Setting(name, defaults[name], meta.description, of_type, meta.ge, meta.le)


SETTINGS = {
    setting.name: setting
    for setting in (
        *_of_server(),
        Setting(
            "secret_key",
            None,
            "Key of the database's secrets, 64 hexadecimal digits; an embedded database has it in "
            "a file beside it instead.",
            is_secret=True,
        ),
        Setting(
            "console_port",
            8002,
            "TCP port of the console; 0 takes any that is free.",
            int,
            0,
            65_535,
        ),
        Setting(
            "readers_url",
            None,
            "Address of the readers' pages as readers use it, without a path, for links in mails; "
            "without it, the one that is listened at.",
        ),
        Setting("account", None, "Id of the account."),
        Setting(
            "map",
            None,
            "Mapping file for files of another form, or the name of one that Masthead has.",
        ),
        Setting(
            "reject", None, "Folder for the rows that cannot be loaded; all other rows are loaded."
        ),
        Setting("allow_truncated", False, "Load files that look cut off at their end.", bool),
        Setting(
            "max_rejected",
            "1%",
            "How many rows of a file may be bad if they are set aside: a number of them or a "
            "share; with more, nothing is loaded.",
        ),
        Setting(
            "max_removed",
            "5%",
            "How many rows of a table may be removed if the files are complete: a number or a "
            "share; with more, nothing is loaded.",
        ),
        Setting(
            "when_complete",
            None,
            "Name of a file that says that a folder is complete: wait until it is there, newer "
            "than at the last load.",
        ),
        Setting(
            "wait_at_most",
            "3h",
            "Time to wait for the file that says that a folder is complete: 30m, 3h.",
        ),
        Setting(
            "for_spreadsheets",
            False,
            "Write cells so that spreadsheets read none as a formula; such files are "
            "not for import.",
            bool,
        ),
        Setting("subscribers", 1000, "Number of subscribers to make up.", int, 0),
        Setting(
            "seed",
            1,
            "Seed of the made-up data: the same number gives the same files.",
            int,
        ),
        Setting("to", None, "URL of the database or folder that holds the copy."),
        Setting(
            "key", None, "The account's api_key at the service.", variable_name="MASTHEAD_API_KEY"
        ),
        Setting(
            "login",
            None,
            "The account's api_login at the service.",
            variable_name="MASTHEAD_API_LOGIN",
        ),
        Setting(
            "every", "60s", "Time from one pass of the mirror to the next, 1s or more: 60s, 5m, 1h."
        ),
        Setting("once", False, "End after one pass of the mirror.", bool),
        Setting("from", None, "Folder of import files that the emulator begins with."),
        Setting("control_host", "127.0.0.1", "Address of the emulator's control port."),
        Setting(
            "control_port",
            8001,
            "TCP port that controls the emulator; 0 takes any that is free.",
            int,
            0,
            65_535,
        ),
        Setting(
            "end_with_input",
            False,
            "End when standard input ends, together with the program that started the emulator.",
            bool,
        ),
    )
}
