#!/bin/sh
# Mbed TLS as a static library in the configuration that it comes with, then the C sources of the runner `mbedtls`. The
# files are compiled one by one: the build systems of ten years differ, the files do not need them.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

# threads of one process share the random generator
locks="-DMBEDTLS_THREADING_C -DMBEDTLS_THREADING_PTHREAD"

recipe() {
	version=$(find "$crate" -path '*include/mbedtls/version.h' | head -n 1)
	source=${version%/include/mbedtls/version.h}
	includes="-I$source/include -I$source/library"
	# Everest and p256-m are off in the configuration; their headers are asked for all the same
	[ ! -d "$source/3rdparty" ] || includes="$includes$(find "$source/3rdparty" -type d -name include -exec printf ' -I%s' {} \;)"
	for file in "$source"/library/*.c; do
		# shellcheck disable=SC2086
		$cc -O2 -g $locks $includes -c "$file" -o "$(basename "$file").o"
	done
	$ar rcs "$install/lib/libmbedcrypto.a" ./*.o
	cp -r "$source/include/mbedtls" "$install/include"
	[ ! -d "$source/include/psa" ] || cp -r "$source/include/psa" "$install/include"
}

obtain
# shellcheck disable=SC2086
compile "$name" $locks -I"$install/include" "$runners"/mbedtls/*.c "$install/lib/libmbedcrypto.a"
