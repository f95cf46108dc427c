"""The interface as data: wire shapes, stored records and operations.

What several packages must agree on is declared here once: the fields of a record, their order,
their kinds, and how a missing value looks on the wire. The encoder, the import checks, the export,
the OpenAPI document and the tables of the documentation are derived from it. What only one
operation needs is in that operation's module.
"""
