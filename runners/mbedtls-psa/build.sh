#!/bin/sh
# Mbed TLS 3.6 as a static library in the configuration that it comes with, then the runner.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	cmake -S "$crate/mbedtls" -B making -DCMAKE_BUILD_TYPE=Release -DENABLE_TESTING=OFF -DENABLE_PROGRAMS=OFF \
		-DGEN_FILES=OFF -DMBEDTLS_FATAL_WARNINGS=OFF
	make -C making -j"$jobs" mbedcrypto
	cp "$(find making -name libmbedcrypto.a | head -n 1)" "$install/lib"
	cp -r "$crate/mbedtls/include/mbedtls" "$crate/mbedtls/include/psa" "$install/include"
	# beside the library where it has them
	for part in everest p256-m; do
		found=$(find making -name "lib$part.a" | head -n 1)
		[ -z "$found" ] || cp "$found" "$install/lib"
	done
}

obtain
# shellcheck disable=SC2046
compile mbedtls-psa -I"$install/include" "$here"/*.c "$install/lib/libmbedcrypto.a" $(find "$install/lib" -name 'lib[ep]*.a')
