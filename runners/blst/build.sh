#!/bin/sh
# blst, twice: with MULX, ADX and SHA instructions chosen at run time (full), and without any (tier `soft`), because it has
# no switch; then a runner of each.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

one() {
	built=$1
	shift
	# the library's own flags
	$cc -O2 -fno-builtin -fPIC "$@" -c "$crate/blst/src/server.c" -o "$built-c.o"
	$cc -O2 -fno-builtin -fPIC "$@" -c "$crate/blst/build/assembly.S" -o "$built-asm.o"
	$ar rcs "$install/lib/$built.a" "$built-c.o" "$built-asm.o"
}

recipe() {
	one full -D__BLST_PORTABLE__
	one soft
	cp "$crate/blst/bindings/blst.h" "$crate/blst/bindings/blst_aux.h" "$install/include"
	printf '#define BLST_VERSION "%s"\n' "$crate_version" >"$install/include/version.h"
}

obtain
for tier in full soft; do
	compile "blst-$tier" -DBUILT_AS="\"$tier\"" -I"$install/include" "$here/table.c" "$install/lib/$tier.a"
done
