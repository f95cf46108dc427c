"""The interface as data: wire shapes, stored records and operations.

Everything that several rooms of the house must agree on is declared here once: which fields a
record has, in which order, of which kind, and what a missing value looks like on the wire. The
encoder, the import checks, the export, the OpenAPI document and the tables of the documentation
are derived from it. What one operation alone needs stays beside that operation.
"""
