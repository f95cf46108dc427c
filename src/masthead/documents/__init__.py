"""The documents that an account sends: templates, and their PDF with the electronic invoice inside.

``electronic_invoice`` writes the XML of EN 16931, ``template_data`` what templates get.
``rendering`` starts child processes with limits; ``worker`` runs in them and is the only one that
loads Typst. What they need comes with the extra ``billing``.
"""
