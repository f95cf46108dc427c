"""The command ``tap-masthead``: it starts :mod:`masthead.singer`, if its packages are installed."""

import sys

from masthead.extras import install


def main() -> None:
    """Run the tap; exit with 2 if its extra is not installed."""
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
