#!/bin/sh
# The tests of the C code, watched by sanitizers. All warnings are errors in every build of a runner.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin

PERBYTE_SANITIZE=1 $bin/perbyte build
PERBYTE_SANITIZE=1 $bin/pytest -q --numprocesses auto --dist loadfile tests/sdk --ignore=tests/sdk/test_c_runners.py -m "not slow and not apart"
PERBYTE_SANITIZE=1 $bin/pytest -q --numprocesses auto --dist loadfile tests/conformance tests/sdk/test_c_runners.py
