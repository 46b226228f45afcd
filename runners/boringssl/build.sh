#!/bin/sh
# BoringSSL as a static library, then the runner, made of the same sources as that of AWS-LC.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	cmake -S "$crate/deps/boringssl" -B making -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
	make -C making -j"$jobs" crypto ssl
	cp making/libcrypto.a making/libssl.a "$install/lib"
	cp -r "$crate/deps/boringssl/include/openssl" "$install/include"
}

obtain
compile boringssl -DRUNNER_BORINGSSL -I"$install/include" "$runners"/aws-lc/symmetric.c "$runners"/aws-lc/curves.c "$runners"/aws-lc/rsa.c "$runners"/aws-lc/load.c \
	"$runners"/aws-lc/table.c "$here"/*.c \
	-DRUNNER_TLS -Devp_fail=library_fail "$runners"/openssl/tls.c "$runners"/openssl/random.c \
	"$install/lib/libssl.a" "$install/lib/libcrypto.a" -lstdc++
