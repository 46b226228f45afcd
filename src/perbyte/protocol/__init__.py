"""What is said between Perbyte and a runner: messages, lines, and the bytes both sides agree on.

Pure: nothing here starts a process, reads a pipe or waits. `protocol/SPEC.md` is the authority; this package
follows it.
"""
