#!/bin/sh
# Lint, and the tests of what differs from the branch main: test files that changed, the tests of packages that did, and
# the project's own rules. Seconds, not minutes; make test has the last word.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin
base=$(git merge-base HEAD "${BASE:-main}" 2>/dev/null || git rev-parse HEAD)
changed=$( (git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard) | sort -u)

sh scripts/lint.sh
tests=tests/house
for file in $changed; do
	case $file in
	tests/*/test_*.py) tests="$tests $file" ;;
	tests/*/*.py) tests="$tests ${file%/*}" ;;
	src/perbyte/cli/*.py)  # whose tests take two minutes: those that name the command
		command=$(basename "$file" .py)
		tests="$tests $(grep -lE "[\"' ]${command%_command}[\"' ]" tests/cli/test_*.py || echo tests/cli)"
		;;
	src/perbyte/*/*.py)
		package=${file#src/perbyte/}
		[ ! -d "tests/${package%%/*}" ] || tests="$tests tests/${package%%/*}"
		;;
	catalogue/*) tests="$tests tests/catalogue" ;;
	studies/*) tests="$tests tests/studies" ;;
	protocol/*) tests="$tests tests/protocol" ;;
	esac
done
# shellcheck disable=SC2046,SC2086
PYTHONDONTWRITEBYTECODE='' $bin/pytest -q --numprocesses auto --dist loadfile -m "not slow and not browser and not apart" $(printf '%s\n' $tests | sort -u)
