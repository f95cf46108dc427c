"""The commands of an installation: ``python -m masthead`` is ``masthead``."""

import sys

from masthead.extras import install


def main() -> None:
    """Run the command of ``sys.argv``; exit with 2 if only the client is installed.

    See decisions, "What an installation holds".
    """
    try:
        from masthead import cli  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write(
            "only the client for Python is installed here; with the file of the release, "
            f"{install('mirror')} brings masthead mirror and check, and {install('server')} all "
            "commands\n"
        )
        sys.exit(2)
    cli.main()


def tap() -> None:
    """Run the command ``tap-masthead``; exit with 2 if its extra is not installed."""
    try:
        from masthead.singer import TapMasthead  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("masthead"):
            raise
        sys.stderr.write(
            f"tap-masthead needs the package {error.name}, which is not installed: with the file "
            f"of the release, {install('singer')} installs it\n"
        )
        sys.exit(2)
    TapMasthead.cli()


if __name__ == "__main__":
    main()
