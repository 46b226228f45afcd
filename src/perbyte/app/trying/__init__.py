"""A user's own programs beside the libraries, as `perbyte try` measures them.

- `clock`: the time that is promised; `check`: is a program right, before anything is measured
- `first`: a first figure within seconds; `stored`: libraries' figures from a run that is still true
- `bench`: all of it in order
"""
