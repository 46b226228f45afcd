"""A user's own programs beside the libraries, as `perbyte try` measures them.

- `clock`: the time that is promised, and the wait for a change
- `bench`: programs checked, a first figure, then all of it in order; `stored`: figures from a run that is still true
- `trial`: what a command asks, beside libraries or a kept program, and whether time depends on secrets
- `commits`: beside the program of a commit, and what became of commits; `trees`: all implementations in a tree
"""
