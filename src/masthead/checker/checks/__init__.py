"""The checks, one module for each group; each check is a function of a :class:`Service`.

It reports what it finds to the service, and raises NotTried where there is nothing to try it on.
The first line of its docstring says what has to be true, and the next paragraph names the section
of the interface.
"""
