#!/bin/sh
# A runner in Go behind the C SDK: build.sh OUT DIRECTORY. The go command fetches what go.sum pins, as it is configured.
set -eu
out=$1 here=$2
sdk=$here/../sdk/c
work=$(mktemp -d "$out/.objects-XXXXXX")
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
(
	cd "$work"
	# shellcheck disable=SC2086
	$cc -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -DPB_COMPILER="\"$(go version | cut -d' ' -f3-)\"" \
		-DPB_FLAGS='"none, as go build has it"' -I"$sdk" -c "$sdk"/*.c "$sdk/../foreign/foreign.c"
	ar rcs libperbyte.a ./*.o
)
cd "$here"
CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$sdk -I$sdk/../foreign" CGO_LDFLAGS="$work/libperbyte.a -lm -ldl -lpthread" \
	go build -trimpath -mod=readonly -o "$out/$(basename -- "$here")" .
