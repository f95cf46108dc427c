"""`python -m masthead` is the command `masthead`."""

from masthead.cli import main

if __name__ == "__main__":
    main()
