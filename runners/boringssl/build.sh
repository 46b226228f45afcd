#!/bin/sh
# BoringSSL as a static library, then the runner, made of the same sources as that of AWS-LC.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	cmake -S "$crate/deps/boringssl" -B making -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
	make -C making -j"$jobs" crypto
	cp "$(find making -name libcrypto.a | head -n 1)" "$install/lib"
	cp -r "$crate/deps/boringssl/include/openssl" "$install/include"
}

obtain
compile boringssl -DRUNNER_BORINGSSL -I"$install/include" "$runners"/aws-lc/symmetric.c "$runners"/aws-lc/curves.c "$runners"/aws-lc/rsa.c \
	"$runners"/aws-lc/table.c "$here"/*.c "$install/lib/libcrypto.a" -lstdc++
