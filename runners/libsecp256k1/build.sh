#!/bin/sh
# libsecp256k1 as a static library with the library's own defaults, then the runner. The crate puts its own version into
# the name of every function; here they have the library's names again.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	source=$crate/depend/secp256k1
	find "$source/src" "$source/include" -type f -exec sed -i 's/rustsecp256k1_v[0-9_]*_/secp256k1_/g' {} +
	tables=$(ls "$source"/src/precomputed_ecmult.c "$source"/src/precomputed_ecmult_gen.c 2>/dev/null || true)
	defines="-DENABLE_MODULE_ECDH -DENABLE_MODULE_EXTRAKEYS -DENABLE_MODULE_SCHNORRSIG"
	# what versions before 0.2 had no defaults for; the crate of some takes stdio.h away
	defines="$defines -DECMULT_WINDOW_SIZE=15 -DECMULT_GEN_PREC_BITS=4 -DUSE_NUM_NONE -DUSE_FIELD_INV_BUILTIN"
	defines="$defines -DUSE_SCALAR_INV_BUILTIN"
	[ "$machine" != x86_64 ] || defines="$defines -DUSE_ASM_X86_64=1"
	[ -f "$source/src/util.h" ] && grep -q "SECP256K1_WIDEMUL" "$source/src/util.h" || defines="$defines -DUSE_FIELD_5X52 -DUSE_SCALAR_4X64 -DHAVE___INT128=1"
	for file in "$source/src/secp256k1.c" $tables; do
		# shellcheck disable=SC2086
		$cc -O2 -g -include stdio.h $defines -I"$source" -I"$source/src" -I"$source/include" -c "$file" -o "$(basename "$file").o"
	done
	$ar rcs "$install/lib/libsecp256k1.a" ./*.o
	cp "$source"/include/*.h "$install/include"
	# before 0.2 the library had no releases
	version="0.1-pre (crate $crate_version)"
	if grep -q "_PKG_VERSION_IS_RELEASE, true" "$source/configure.ac"; then
		version=$(sed -n 's/^define(_PKG_VERSION_M[AI][JN]OR, \([0-9]*\))$/\1./p; s/^define(_PKG_VERSION_PATCH, \([0-9]*\))$/\1/p' \
			"$source/configure.ac" | tr -d '\n')
	fi
	printf '#define SECP256K1_VERSION "%s"\n' "$version" >"$install/include/version.h"
}

obtain
compile "$name" -I"$install/include" "$here"/*.c "$install/lib/libsecp256k1.a"
