#!/bin/sh
# Everything that can be said about the code without running it. Ends with the first complaint.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin

$bin/ruff check .
$bin/ruff format --check .
$bin/mypy
$bin/lint-imports

if command -v clang-format >/dev/null 2>&1; then
	git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format --dry-run -Werror
else
	echo "clang-format is not installed: the format of C and C++ was not checked" >&2
fi
