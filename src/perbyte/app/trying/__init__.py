"""A user's own programs beside the libraries, as `perbyte try` measures them.

- `asking`: what files, flags and libraries ask for
- `clock`: the time that is promised, and the wait for a change
- `check`: is a program right, before anything is measured
- `first`: a first figure within seconds; `stored`: libraries' figures from a run that is still true
- `bench`: all of it in order; `trial`: what a command asks, beside libraries or a kept program
- `since`: beside the program of a commit, and the search for what changed it; `history`: what became of commits
- `secrets`: does its time depend on secrets; `trees`: all implementations in a tree
"""
