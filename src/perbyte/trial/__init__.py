"""Anybody's own code as a runner: from a file and the name of a function to a program that can be measured.

The room generates, compiles and looks; it measures nothing and prints nothing. What it makes is an ordinary runner
with the C SDK in it, so the gate, the clock and the figures are the same as everybody's.
"""
