"""``masthead qualification``: form, classes, add, import, show, sample; efforts, select, send."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from masthead.books import qualification_files, qualification_forms, qualifications
from masthead.books.qualification_forms import Asked, FormValues, GivenClass
from masthead.circulation.qualifying import UNCLASSIFIED, Answer, said_of
from masthead.cli import requalification
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, end_of, say
from masthead.cli.newcomers import echo_newcomers, likeness
from masthead.cli.qualification_sample import sample_command
from masthead.contract.printable import counted, printable
from masthead.contract.qualification import FILLS
from masthead.contract.subscription_types import TYPES
from masthead.errors import BadInput, BadUsage
from masthead.loading.order_files import PROBLEMS_SHOWN_MAX, Problem
from masthead.loading.qualification_files import problems_of, read_mapping, read_qualifications

if TYPE_CHECKING:
    from masthead.books import Books
    from masthead.books.qualification_forms import Form
    from masthead.books.qualifications import Shown

_OPTIONS = ("required", "other")


@click.group("qualification")
def qualification_group() -> None:
    """Qualification: titles that are free to those who qualify.

    A publication gets a form and classes; a reader who answers it qualifies for some months.
    """


for _each in (requalification.efforts_group, requalification.select, requalification.send):
    qualification_group.add_command(_each)
qualification_group.add_command(sample_command)


@qualification_group.command("form")
@click.argument("publication_id", type=ID)
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME[:required][:other]",
    help="A custom field that the form asks, in this order; :required if it must be answered, "
    ":other if another answer than its options is allowed. May be repeated; the fields replace "
    "those of before.",
)
@click.option("--months", type=int, help="For how many months a qualification is valid.")
@click.option("--fills", type=click.Choice(FILLS), help="By what the quota of a class is filled.")
@click.option("--type", "type_", type=click.Choice(TYPES), help="The type of what goes out.")
@click.option("--agreed-text", help="The text that readers agree to; '' for none.")
@dry_run
@account_options
def form(
    publication_id: int,
    fields: tuple[str, ...],
    account: int | None,
    database: str,
    *,
    dry_run: bool,
    type_: str | None,
    **values: Any,
) -> None:
    """Set the form of a publication; without options, print it.

    Custom fields and their options come with `masthead import`. Who chooses an option that is
    marked as a disqualifier does not qualify.
    """
    books = books_of(account, database)
    questions = [_asked(each) for each in fields] if fields else None
    given = FormValues(questions, type=type_, **values)
    if given == FormValues():
        _print_form(qualification_forms.form(books, publication_id))
        return
    say(
        qualification_forms.set_form(books, publication_id, given, dry_run=dry_run), dry_run=dry_run
    )


def _asked(text: str) -> Asked:
    name, *options = text.split(":")
    while options and options[0] not in _OPTIONS:
        name = f"{name}:{options.pop(0)}"
    wrong = next((each for each in options if each not in _OPTIONS), None)
    if wrong is not None:
        raise BadUsage(f"--field: {wrong!r} is not one of {', '.join(_OPTIONS)}")
    return Asked(name, "required" in options, "other" in options)


def _print_form(form: "Form") -> None:
    valid = f"valid for {counted(form.months, 'month')}, quotas filled by {form.fills}, {form.type}"
    lines = [f"publication {form.publication_id} ({form.publication}): {valid}"]
    for each in form.questions:
        said = [f"  {each.name} ({each.type})"]
        said += ["required"] * each.is_required + ["another answer is allowed"] * each.allows_other
        lines.append(", ".join(said))
        lines += [
            f"    {option.words}{'  disqualifies' if option.disqualifies else ''}"
            for option in each.active_options
        ]
    if form.agreed_text:
        lines.append(f"  readers agree to: {form.agreed_text}")
    for line in lines:
        click.echo(printable(line))


@qualification_group.command("classes")
@click.argument("publication_id", type=ID)
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="TOML file with the classes, which replaces all of them.",
)
@dry_run
@account_options
def classes(
    publication_id: int, file: Path | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Set the audit classes of a publication from a file; without --from, print them.

    A reader is in the first class whose conditions all hold; the class unclassified, the last one,
    takes all others. For each class the file has a table [[class]] with code, name, served (true or
    false), quota (the most copies of an issue) and, under [class.when], the options of a field:

    \b
    [[class]]
    code = "chief"
    name = "Owners and chief executives"
    quota = 5000
    when.job = ["owner", "chief executive"]

    Current qualifications come to their new class at once. What was added before, and the reports
    of closed issues, stay as they are.
    """  # noqa: D301 - click keeps the lines after this mark
    books = books_of(account, database)
    if file is None:
        _print_classes(books, publication_id)
        return
    given = _classes_in(file)
    done = qualification_forms.set_classes(books, publication_id, given, dry_run=dry_run)
    say(done, dry_run=dry_run)


_KEYS = {"code": str, "name": str, "served": bool, "quota": int, "when": dict}


def _classes_in(file: Path) -> list[GivenClass]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{file}: it is not TOML: {error}") from error
    except (UnicodeDecodeError, RecursionError):
        raise BadInput(f"{file}: it is not a TOML file in UTF-8") from None
    tables = found.pop("class", None)
    if found or not isinstance(tables, list):
        other = f"has {next(iter(found))!r} too" if found else "has none"
        raise BadInput(f"{file}: it has tables [[class]] and nothing else, but {other}")
    return [_class_in(file, number, table) for number, table in enumerate(tables, 1)]


def _class_in(file: Path, number: int, table: dict[str, Any]) -> GivenClass:
    where = f"{file}: class {number}"
    for name, value in table.items():
        if name not in _KEYS:
            raise BadInput(f"{where}: {name!r} is not one of {', '.join(_KEYS)}")
        if type(value) is not _KEYS[name]:
            raise BadInput(f"{where}: {name} is not {_KEYS[name].__name__}")
    if "code" not in table:
        raise BadInput(f"{where}: it has no code")
    conditions = {}
    for name, options in table.get("when", {}).items():
        listed = [options] if isinstance(options, str) else options
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise BadInput(f"{where}: {name!r} has a list of options, as texts")
        conditions[name] = listed
    return GivenClass(
        table["code"],
        table.get("name", ""),
        table.get("served", True),
        table.get("quota"),
        conditions,
    )


def _print_classes(books: "Books", publication_id: int) -> None:
    form = qualification_forms.form(books, publication_id)
    named = {each.field_id: each for each in form.questions}
    for each in form.classes:
        served = "served" if each.is_served else "not served"
        if each.is_served and each.quota is not None:
            served += f", at most {counted(each.quota, 'copy', 'copies')}"
        said = f"{each.position}  {each.code}  {each.name}  {served}"
        for field_id, options in sorted(each.conditions.items()):
            field = named[field_id]
            words = [one.words for one in field.options if one.option_id in options]
            said += f"  {field.name}: {' or '.join(words)}"
        click.echo(printable(said))


@qualification_group.command("request-types")
@click.option("--add", "added", nargs=2, metavar="CODE NAME", help="Add one after the others.")
@click.option(
    "--not-asked",
    is_flag=True,
    help="With --add: the reader does not ask, such as for names from a directory.",
)
@dry_run
@account_options
def request_types(
    added: tuple[str, str] | None,
    account: int | None,
    database: str,
    *,
    not_asked: bool,
    dry_run: bool,
) -> None:
    """List the ways in which qualifications come, or add one."""
    books = books_of(account, database)
    if added is None:
        for each in qualification_forms.request_types(books):
            asks = "the reader asks" if each.is_request else "the reader does not ask"
            click.echo(printable(f"{each.position}  {each.code}  {each.name}  {asks}"))
        return
    done = qualification_forms.add_request_type(
        books, *added, is_request=not not_asked, dry_run=dry_run
    )
    say(done, dry_run=dry_run)


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise BadUsage(f"{option} {text!r}: write NAME=VALUE")
    return name.strip(), value.strip()


def _evidence(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [_pair("--evidence", each) for each in given]
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadUsage("--evidence gives one name twice: give each value a name of its own")
    return found


@qualification_group.command("add")
@click.argument("subscriber_id", type=ID)
@click.argument("publication_id", type=ID)
@click.option("--on", type=Day(), required=True, help="The day of the answers.")
@click.option("--request", required=True, metavar="CODE", help="How it came: a request type.")
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="FIELD=OPTION",
    help="An answer; may be repeated, also for a field with several answers. What is no option is "
    "an answer in words.",
)
@click.option(
    "--evidence",
    multiple=True,
    metavar="NAME=VALUE",
    help="What proves it, such as a file or the number of a call; may be repeated.",
)
@click.option("--taken-by", help="Who took the answers.")
@click.option("--reference", help="The reference of another system.")
@click.option(
    "--type",
    "type_",
    type=click.Choice(TYPES),
    help="By default, that of the reader's newest subscription, else that of the form.",
)
@dry_run
@account_options
def add(
    subscriber_id: int,
    publication_id: int,
    account: int | None,
    database: str,
    *,
    answers: tuple[str, ...],
    evidence: tuple[str, ...],
    request: str,
    type_: str | None,
    dry_run: bool,
    **given: Any,
) -> None:
    """Add the qualification of a reader for a publication, on the day of the answers.

    It is for the subscription that the reader has, or begins one. It is never changed: another one
    follows it, and the one of the latest day counts.
    """
    books = books_of(account, database)
    said = _answers(books, publication_id, [_pair("--answer", each) for each in answers])
    done = qualifications.add(
        books,
        publication_id,
        qualifications.Given(
            subscriber_id,
            request_type=request,
            answers=said,
            evidence=_evidence(evidence),
            type=type_,
            **given,
        ),
        dry_run=dry_run,
    )
    say(done, dry_run=dry_run)


def _answers(
    books: "Books", publication_id: int, pairs: list[tuple[str, str]]
) -> dict[int, Answer]:
    """Return the answers by the id of the field; what is no option is words."""
    form = qualification_forms.form(books, publication_id)
    return qualification_forms.read_answers(form, pairs)


@qualification_group.command("import")
@click.argument("publication_id", type=ID)
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option(
    "--map",
    "mapping",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The mapping of a file of others, which says what its columns are.",
)
@dry_run
@account_options
def import_(
    publication_id: int,
    path: Path,
    mapping: Path | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add the qualifications of a file, such as of a web form, a call centre or a fair.

    All of them are added or none. The file is CSV, NDJSON or a workbook. Its columns are
    qualified_on, request_type, the fields of the form by their names, evidence_ with the name of a
    value, taken_by, type and external_reference. The reader has the columns subscriber_id or
    renewal_code, or email, first_name, last_name, company, address, city, state, zip_code,
    country_name, country_abbreviation, to which the copies then go. Several answers to a question
    that takes several stand in one cell with | between them. A field with the name of such a column
    has answer_ before its name.

    The same file again changes nothing. What is older than a reader's newest qualification is
    added, and the newest one still counts. New readers who look like existing ones are named, and
    added: merge them if they are the same. A mapping is TOML:

    \b
    dates = "DD.MM.YYYY"
    request_type = "telephone"
    columns = { qualified_on = "Tag", email = "E-Mail", job = "Position" }
    values.job = { "CEO" = "chief" }
    """  # noqa: D301 - click keeps the lines after this mark
    books = books_of(account, database)
    rows = read_qualifications(path, read_mapping(mapping) if mapping else None)
    try:
        done = qualification_files.import_rows(
            books, publication_id, rows, described_max=PROBLEMS_SHOWN_MAX, dry_run=dry_run
        )
    except qualification_files.RefusedRows as error:
        raise problems_of(path, error.refused) from None
    click.echo(printable(done.sentence))
    echo_newcomers(
        [
            str(Problem(path.name, line, "last_name", likeness(each.name, each.resembling)))
            for line, each in done.newcomers
        ]
    )
    end_of(dry_run=dry_run)


@qualification_group.command("show")
@click.argument("subscriber_id", type=ID)
@click.argument("publication_id", type=ID, required=False)
@account_options
def show(
    subscriber_id: int, publication_id: int | None, account: int | None, database: str
) -> None:
    """Show the qualifications of a reader with answers and evidence, the newest day first."""
    books = books_of(account, database)
    found = qualifications.of_reader(books, subscriber_id, publication_id)
    for each in found:
        for line in _lines(each):
            click.echo(printable(line))
    if not found:
        click.echo("the reader has no qualification")


def _lines(shown: "Shown") -> list[str]:
    each = shown.qualification
    said = (
        f"{each.qualification_id}  {each.publication}  {each.qualified_on}  valid until "
        f"{each.valid_until}  {each.request_name}  class {each.audit_class or UNCLASSIFIED}"
    )
    if each.disqualified:
        by = f" by {', '.join(shown.disqualified_by)}" if shown.disqualified_by else ""
        said += f"  disqualified{by}"
    if each.is_current:
        said += "  counts now" if shown.is_served else "  counts now, not served"
        if each.current_class != each.audit_class:
            said += f", in class {each.current_class}"
        if each.lapsed_by is not None:
            said += ", lapsed"
    lines = [said, *(f"    {said_of(*each)}" for each in shown.answers)]
    lines += [f"    evidence: {name}: {text}" for name, text in shown.evidence.items()]
    taken = " by ".join(filter(None, (each.recorded_at, each.taken_by)))
    return [*lines, f"    written down {taken}"]
