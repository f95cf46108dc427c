"""Choosing a person in a form by typing their name, with JavaScript and without.

A template shows the picker with ``person_picker(form, name, label)`` of ``person_picker.html``. It
sends three fields: ``NAME`` is what was typed, ``NAME_id`` the id of the person who was chosen, and
``NAME_for`` the text for which the choice was shown. A choice counts only while the text is the
same: who types another name has not chosen yet. Without JavaScript, the button *Find* sends the
form with ``find`` set; the page then shows it again, with the matches as radio buttons.

A page uses it so::

    def save(request: PageRequest) -> Response:
        form = Form(request.form)
        payer = chosen_person(form, "payer", is_needed=True)  # the id, or None
        if is_finding(form) or not form.is_good:
            look_up_people(request.books, form, "payer")  # before the form is shown
            return request.page("…", form=form)
        …

``choose(form, "payer", key)`` chooses somebody beforehand, such as the one whom the URL names.
"""

from masthead.books import Books, finding
from masthead.console.forms import Form
from masthead.web.forms import id_in

_SHOWN = 8


def chosen_person(form: Form, name: str, *, is_needed: bool = False) -> int | None:
    """Return the id of the person who was chosen, or None.

    The form gets an error if a name was typed and no person chosen, and if nothing was typed and a
    person ``is_needed``.
    """
    key = key_of(form, name)
    if key is None and form[name]:
        form.refuse(name, "Choose who it is: type the name, and take one of those who are found.")
    elif key is None and is_needed:
        form.refuse(name, "Type a name, and choose who it is.")
    return key


def choose(form: Form, name: str, subscriber_id: int) -> None:
    """Choose a person in a form."""
    form.values |= {name: "", f"{name}_for": "", f"{name}_id": str(subscriber_id)}


def is_finding(form: Form) -> bool:
    """Return whether the form was sent to find a person, so that it is shown again."""
    return bool(form["find"])


def look_up_people(books: Books, form: Form, *names: str) -> None:
    """Look up who was chosen in these fields, or else who matches the text that was typed.

    The picker then shows them (``form.people``). Call it before a page with the form is returned.
    A form that was sent to find a person is not complete yet: it has no errors.
    """
    if is_finding(form):
        form.errors.clear()
    for name in names:
        key = key_of(form, name)
        if key is not None:
            form.people[name] = finding.by_ids(books, [key])
            text = "".join(hit.person.name for hit in form.people[name])
        else:
            text = form[name]
            form.people[name] = finding.look(books, text, limit=_SHOWN).people
        form.values |= {name: text, f"{name}_for": text}


def key_of(form: Form, name: str) -> int | None:
    """Return the id of the person whose choice still fits the text, or None."""
    return id_in(form[f"{name}_id"]) if form[name] == form[f"{name}_for"] else None
