"""The app as a module that any ASGI server can import."""

from masthead.api.app import create_app

app = create_app()
