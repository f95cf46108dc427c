"""The client of the interface, in both forms: for threads and for coroutines."""
