"""Names the electronic invoice in the metadata of a PDF, as Factur-X 1.0 asks (section 6).

Typst writes the PDF/A-3 with the XML in it, but not the four properties that say that the PDF is
such an invoice, nor their PDF/A extension schema. They go into Typst's XMP packet, which is not
compressed; the table of the file's objects is then written again. All else stays as it is, so that
the same PDF gets the same bytes.
"""

import re

from masthead.documents.electronic_invoice import FILE_NAME
from masthead.errors import MastheadError

_URN = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
_PROPERTIES = {
    "DocumentFileName": ("The name of the embedded XML document", FILE_NAME),
    "DocumentType": ("The type of the hybrid document in capital letters", "INVOICE"),
    "Version": ("The version of the standard of the embedded XML document", "1.0"),
    "ConformanceLevel": ("The conformance level of the embedded XML document", "EN 16931"),
}
_PROPERTY = (
    '<rdf:li rdf:parseType="Resource"><pdfaProperty:category>external</pdfaProperty:category>'
    "<pdfaProperty:description>{meaning}</pdfaProperty:description>"
    "<pdfaProperty:name>{name}</pdfaProperty:name>"
    "<pdfaProperty:valueType>Text</pdfaProperty:valueType></rdf:li>"
)
_SCHEMA = (
    '<rdf:li rdf:parseType="Resource">'
    "<pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>"
    f"<pdfaSchema:namespaceURI>{_URN}</pdfaSchema:namespaceURI>"
    "<pdfaSchema:prefix>fx</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>"
    + "".join(
        _PROPERTY.format(name=name, meaning=meaning) for name, (meaning, _) in _PROPERTIES.items()
    )
    + "</rdf:Seq></pdfaSchema:property></rdf:li>"
).encode()
_VALUES = (
    f'<rdf:Description rdf:about="" xmlns:fx="{_URN}">'
    + "".join(f"<fx:{name}>{value}</fx:{name}>" for name, (_, value) in _PROPERTIES.items())
    + "</rdf:Description>"
).encode()

_SCHEMAS_END = b"</rdf:Bag></pdfaExtension:schemas>"
_METADATA = re.compile(rb"<</Length (\d+)/Type/Metadata/Subtype/XML>>\nstream\n")
_TABLE = re.compile(
    rb"xref\n0 (\d+)\n((?:\d{10} \d{5} [nf] ?\r?\n)+)trailer\n(.*?)startxref\n\d+", re.DOTALL
)
_ENTRY = re.compile(rb"(\d{10})( \d{5} n)")


def named_as_invoice(pdf: bytes) -> bytes:
    """Return a PDF/A-3 of Typst with the metadata of Factur-X.

    Raises MastheadError if the PDF has another form than that of the Typst which is installed with
    this version.
    """
    start = _METADATA.search(pdf)
    tables = list(_TABLE.finditer(pdf))
    if not start or not tables:
        raise MastheadError("this version of Typst writes PDF files of another form")
    end = start.end() + int(start[1])
    packet = pdf[start.end() : end]
    if packet.count(_SCHEMAS_END) != 1 or packet.count(b"</rdf:RDF>") != 1:
        raise MastheadError("this version of Typst writes metadata of another form")
    packet = packet.replace(_SCHEMAS_END, _SCHEMA + _SCHEMAS_END)
    packet = packet.replace(b"</rdf:RDF>", _VALUES + b"</rdf:RDF>")
    head = b"<</Length %d/Type/Metadata/Subtype/XML>>\nstream\n" % len(packet)
    table = tables[-1]
    body = pdf[: start.start()] + head + packet + pdf[end : table.start()]
    moved = len(body) - table.start()

    def entry(found: re.Match[bytes]) -> bytes:
        at = int(found[1])
        return b"%010d%b" % (at + moved if at > start.start() else at, found[2])

    written = _ENTRY.sub(entry, table[2])
    return b"%bxref\n0 %b\n%btrailer\n%bstartxref\n%d%b" % (
        body,
        table[1],
        written,
        table[3],
        len(body),
        pdf[table.end() :],
    )
