"""The templates of the console, as Jinja reads them."""

from __future__ import annotations

from jinja2 import nodes

from masthead.console import templating


def test_each_filter_of_a_template_is_there() -> None:
    """One that is not there, in a part that is seldom shown, fails when a person sees it."""
    environment = templating._environment()
    assert environment.loader
    astray = {
        f"{name}: {found.name}"
        for name in environment.list_templates()
        for found in environment.parse(
            environment.loader.get_source(environment, name)[0]
        ).find_all(nodes.Filter)
        if found.name not in environment.filters
    }
    assert not astray
