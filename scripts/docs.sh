#!/bin/sh
# What README.md and docs/trust.md show, from real runs: the study of 2020 for the picture, a short run for the table.
#
#   sh scripts/docs.sh              measure both (about three minutes), draw, fill both
#   sh scripts/docs.sh STUDY TABLE  take these run directories instead
#   sh scripts/docs.sh --fill       only copy docs/pictures/*.txt into both
set -eu
cd "$(dirname "$0")/.."
shown=docs/pictures
out=out/docs
perbyte=.venv/bin/perbyte
libraries='{cryptopp,libgcrypt,nettle,openssl}'
export COLUMNS=100 NO_COLOR=1

# show NAME WORDS...: run `perbyte WORDS`, and keep the command as a reader would type it with what it prints
show() {
	name=$1 text=$2
	shift 2
	{ printf '$ %s\n' "$text"; "$perbyte" "$@"; } >"$shown/$name.txt"
}

fill() {
	awk '
		/^<!-- shown: .* -->$/ { print; print "```console"; while ((getline line < $3) > 0) print line; print "```"; skip = 1; next }
		/^<!-- \/shown -->$/ { skip = 0 }
		!skip' "$1" >"$1.new"
	mv "$1.new" "$1"
}

if [ "${1:-}" = --fill ]; then
	fill README.md
	fill docs/trust.md
	exit
fi

[ $# -gt 0 ] || rm -rf "$out"
mkdir -p "$shown" "$out"
study=${1:-$out/kompara} table=${2:-$out/aead}
[ -d "$table" ] || "$perbyte" measure "$libraries/{aes-256-gcm,chacha20-poly1305}/seal@64,1KiB,16KiB" --out "$table" >/dev/null
[ -d "$study" ] || "$perbyte" study run kompara-2020 --out "$study" >/dev/null

show table "perbyte measure '$libraries/{aes-256-gcm,chacha20-poly1305}/seal@64,1KiB,16KiB'" show "$table"
show selftest "perbyte selftest" selftest --quiet
"$perbyte" report "$study" --chart "$shown/acceleration.svg"
fill README.md
fill docs/trust.md
