"""Anybody's own code as a runner: from a file and the name of a function to a program that can be measured.

This package writes the source of a runner around the user's files and compiles it. It measures nothing and prints
nothing. The result is an ordinary runner with an SDK in it, so validation, clock and figures are those of all runners.
"""
