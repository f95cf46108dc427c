"""When a mail that a server did not take for now is sent again (billing, "E-mail")."""

TRIES_MAX = 10
"""How often a mail is tried. The last try is about two and a half days after the first."""

LEASE_SECONDS = 30 * 60
"""How long a sender has a mail for itself. A sender that was killed gives it back by this."""

_FIRST_SECONDS = 10 * 60
_LONGEST_SECONDS = 24 * 60 * 60


def delay_after(tries: int) -> int | None:
    """Return the seconds until a mail is sent again after so many tries; None after the last.

    The delay doubles, from ten minutes to a day.
    """
    if tries >= TRIES_MAX:
        return None
    return int(min(_FIRST_SECONDS << max(tries - 1, 0), _LONGEST_SECONDS))
