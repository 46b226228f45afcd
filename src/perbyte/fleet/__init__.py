"""Fleet: one plan on many machines behind a Dask scheduler. The only package that knows Dask.

A machine joins by a worker with one measuring slot and keeps its name when it comes back. Measuring itself is the
command `perbyte measure` in a process of its own, with all its checks and its lock on the cores: this package brings
the plan there, watches, and brings the run directories back.
"""
