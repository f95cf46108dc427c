"""The operating system's user who runs a command."""

import os
import pwd
from contextlib import suppress


def user_name() -> str:
    """Return the name of the effective user, and in parentheses the login name if it differs."""
    user_id = os.getuid()
    try:
        name = pwd.getpwuid(user_id).pw_name
    except KeyError:
        name = str(user_id)
    with suppress(OSError):
        login = os.getlogin()
        if login != name:
            return f"{name} ({login})"
    return name
