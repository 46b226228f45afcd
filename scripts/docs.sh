#!/bin/sh
# What README.md and docs/ show, from real runs: each text is what the command in its first line prints today.
#
#   sh scripts/docs.sh          run all of them, and the study of 2020 for a chart (about four minutes)
#   sh scripts/docs.sh NAME...  run these of docs/pictures/NAME.txt, in this order
#   sh scripts/docs.sh --fill   only copy docs/pictures/*.txt into the documents
#
# tests/cli/test_walk.py runs the commands on scripted runners and compares the form of what they print.
set -eu
cd "$(dirname "$0")/.."
shown=docs/pictures
out=$PWD/out/docs
export COLUMNS=100 NO_COLOR=1 XDG_DATA_HOME="$out/data" PATH="$PWD/.venv/bin:$PATH"

# again NAME: keep the command as a reader types it, with what it prints
again() {
	command=$(sed -n '1s/^\$ //p' "$shown/$1.txt")
	sh -c "$command" 2>"$out/$1.notes" >"$out/$1.txt"
	[ -s "$out/$1.txt" ] || { cat "$out/$1.notes" >&2; exit 1; }
	{ printf '$ %s\n' "$command"; cat "$out/$1.txt"; } >"$shown/$1.txt"
}

fill() {
	for document in README.md docs/trust.md docs/cli.md; do
		awk '
			/^<!-- shown: .* -->$/ { print; print "```console"; while ((getline line < $3) > 0) print line; print "```"; skip = 1; next }
			/^<!-- \/shown -->$/ { skip = 0 }
			!skip' "$document" >"$document.new"
		mv "$document.new" "$document"
	done
}

if [ "${1:-}" = --fill ]; then
	fill
	exit
fi

rm -rf "$out"
mkdir -p "$out"
if [ $# = 0 ]; then
	set -- advise compare try table selftest # the README's in its order: compare looks at the run of advise
	perbyte study run kompara-2020 --out "$out/kompara" >/dev/null
	perbyte report "$out/kompara" --chart "$shown/acceleration.svg"
fi
for name; do
	again "$name"
done
fill
