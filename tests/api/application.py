"""The app for whatever ASGI server runs it."""

from masthead.api.app import create_app

app = create_app()
