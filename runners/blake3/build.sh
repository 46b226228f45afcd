#!/bin/sh
# The C and assembly of BLAKE3, twice: with all it can choose from at run time, and portable C alone (tier `soft`),
# because the library has no switch.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

objects() {
	mkdir "$1"
	cd "$1"
	shift
	$cc -O3 -c "$@"
	$ar rcs ../"$(basename "$PWD")".a ./*.o
	cd ..
}

recipe() {
	source=$crate/c
	cp "$source"/*.h "$install/include"
	plain="$source/blake3.c $source/blake3_dispatch.c $source/blake3_portable.c"
	without="-DBLAKE3_NO_SSE2 -DBLAKE3_NO_SSE41 -DBLAKE3_NO_AVX2 -DBLAKE3_NO_AVX512 -DBLAKE3_USE_NEON=0"
	# shellcheck disable=SC2086
	case $machine in
	x86_64) objects full $plain "$source"/*_x86-64_unix.S ;;
	aarch64) objects full $plain "$source/blake3_neon.c" ;;
	*) objects full $without $plain ;;
	esac
	# shellcheck disable=SC2086
	objects soft $without $plain
	cp full.a soft.a "$install/lib"
}

obtain
for tier in full soft; do
	compile "blake3-$tier" -DBUILT_AS="\"$tier\"" -I"$install/include" "$here/table.c" "$install/lib/$tier.a"
done
