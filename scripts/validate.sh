#!/bin/sh
# Measures what docs/validation shows of this machine, now: sh scripts/validate.sh NAME [OPTION OF SELFTEST]...
# The share of active siblings before and after stands beside the figures, because they are worth nothing without it.
set -eu
cd "$(dirname "$0")/.."
name=$1
shift
perbyte=.venv/bin/perbyte out=docs/validation/$name.txt
neighbours() {
	$perbyte doctor | grep 'last second' || echo '  nobody can tell who else was on the cores'
}
{
	neighbours
	echo "$ perbyte selftest --full $*"
	$perbyte selftest --full -q "$@"
	neighbours
} >"$out.part"
mv "$out.part" "$out"
cat "$out"
