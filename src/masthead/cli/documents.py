"""``masthead documents``: export, check."""

from pathlib import Path

import click

from masthead.billing.settings import BillingSettings
from masthead.books.invoice_documents import appearance_of
from masthead.contract.printable import counted, printable
from masthead.documents.checking import try_templates
from masthead.documents.template_files import export_templates
from masthead.private_files import make_folder

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group("documents")
def documents_group() -> None:
    """Templates of invoices, receipts and credit notes: copy them, change them, check them.

    Templates are in Typst. With `masthead billing settings templates=/srv/templates`, an account
    uses a folder of yours; files that it lacks are those that come with Masthead.
    """


@documents_group.command("export")
@click.argument("folder", type=_FOLDER)
def export(folder: Path) -> None:
    """Copy the templates into a folder, to change them there.

    Existing files are never replaced. Delete the files that you do not change, so that later
    versions of Masthead can improve them.
    """
    names = export_templates(folder)
    click.echo(f"{folder} has {', '.join(names)}")


@documents_group.command("check")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option(
    "--into", "into", type=_FOLDER, help="Also write the made-up documents as PDF to this folder."
)
def check(folder: Path | None, into: Path | None) -> None:
    """Make made-up documents of each kind and language by the templates in a folder.

    The first error is printed, with its file and line. Without a folder, the templates that come
    with Masthead are tried.
    """
    appearance = appearance_of(BillingSettings())._replace(templates=folder)
    made = try_templates(appearance)
    if into:
        make_folder(into)
        for each in made:
            (into / f"{each.name}.pdf").write_bytes(each.pdf)
    where = printable(folder) if folder else "the templates of Masthead"
    click.echo(f"{counted(len(made), 'document')} made by {where}: no error")
