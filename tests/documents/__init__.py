"""Documents: what a PDF shows, the electronic invoice in it, and templates that go wrong."""
