"""`python -m masthead` is the command `masthead`."""

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


if __name__ == "__main__":
    main()
