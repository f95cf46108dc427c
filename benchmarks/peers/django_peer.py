"""What a user would build instead: Django REST framework with Django's ORM, on gunicorn.

Of what ``startproject`` switches on, only what these answers need is on: no sessions, no admin, one
middleware. That favours it. Each thread keeps its connection. Django leaves prepared statements of
PostgreSQL off; with them (``server_side_binding``) it gave as many answers in a trial.
"""

import os
from typing import Any

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from psycopg.conninfo import conninfo_to_dict

from benchmarks.databases import is_postgresql


def database_of(url: str) -> dict[str, Any]:
    """Return Django's settings of a database by Masthead's URL of it."""
    if not is_postgresql(url):
        name = url.removeprefix("sqlite:///")
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": name, "CONN_MAX_AGE": None}
    options: dict[str, Any] = conninfo_to_dict(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": options.pop("dbname"),
        "CONN_MAX_AGE": None,
        "OPTIONS": options,
    }


settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": database_of(os.environ["MASTHEAD_DATABASE"])},
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["benchmarks.peers.django_auth.PairAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "UNAUTHENTICATED_USER": None,
    },
    ROOT_URLCONF="benchmarks.peers.django_views",
    SECRET_KEY="of nothing that is signed",
    USE_I18N=False,
)
django.setup()
app = get_wsgi_application()
