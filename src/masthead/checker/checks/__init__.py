"""The checks, one module for each group; each check is a function of a :class:`Service`.

A check reports its findings to the service, and raises NotTried if there are no data to try it on.
The first line of its docstring states the requirement; the next paragraph names the section of the
interface.
"""
