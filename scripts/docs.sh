#!/bin/sh
# What README.md and docs/ show, from real runs: the study of 2020 for the picture, short runs for the texts.
#
#   sh scripts/docs.sh                     measure all (about four minutes), draw, fill the documents
#   sh scripts/docs.sh STUDY TABLE ADVICE  take these run directories instead
#   sh scripts/docs.sh --fill              only copy docs/pictures/*.txt into the documents
set -eu
cd "$(dirname "$0")/.."
shown=docs/pictures
out=out/docs
perbyte=$PWD/.venv/bin/perbyte
libraries='{cryptopp,libgcrypt,nettle,openssl}'
export COLUMNS=100 NO_COLOR=1

# show NAME TEXT KEEP WORDS...: run `perbyte WORDS`, and keep the command as a reader would type it with what it prints,
# of which sed's KEEP says what stays
show() {
	name=$1 text=$2 keep=$3
	shift 3
	{ printf '$ %s\n' "$text"; "$perbyte" "$@" | sed "$keep"; } >"$shown/$name.txt.new"
	mv "$shown/$name.txt.new" "$shown/$name.txt"
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

[ $# -gt 0 ] || rm -rf "$out"
mkdir -p "$shown" "$out"
study=${1:-$out/kompara} table=${2:-$out/aead} advice=${3:-}
[ -d "$table" ] || "$perbyte" measure "$libraries/{aes-256-gcm,chacha20-poly1305}/seal@64,1KiB,16KiB" --out "$table" >/dev/null
[ -d "$study" ] || "$perbyte" study run kompara-2020 --out "$study" >/dev/null
cp tests/trial/code/sha256.c "$out/my_hash.c"

show table "perbyte measure '$libraries/{aes-256-gcm,chacha20-poly1305}/seal@64,1KiB,16KiB'" '' show "$table"
show compare "perbyte compare 'libgcrypt/aes-256-gcm' 'openssl/aes-256-gcm' | head -9" 9q \
	compare 'libgcrypt/aes-256-gcm' 'openssl/aes-256-gcm' --run "$table"
show advise "perbyte advise tls | head -5" 5q advise tls ${advice:+--run "$advice"}
(cd "$out" && "$perbyte" try my_hash.c --as sha-256 --size 1KiB,16KiB 2>/dev/null) >"$out/try.txt"
{ echo '$ perbyte try my_hash.c --as sha-256 --size 1KiB,16KiB | tail -3'; tail -n 3 "$out/try.txt"; } >"$shown/try.txt"
show selftest "perbyte selftest" '' selftest --quiet
"$perbyte" report "$study" --chart "$shown/acceleration.svg"
fill
