"""The site of an atlas: pages by algorithm, library, machine and month, from values that `atlas.export` gathers.

`view` arranges and ranks, `parts` are cells and tables, `drawn` the pictures; a module a kind of page, and `write` puts
all of it into a directory. Pages need no server and no script; search and sorting do.
"""
