#!/bin/sh
# OpenSSL 1.1 as a static library, then the C sources of the runner `openssl` that it can be called by.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"
. "$runners/openssl/configure.sh"

recipe() {
	cd "$crate/openssl"
	configure no-shared no-tests no-engine no-async no-ssl no-dtls no-comp no-ui-console
	make -s -j"$jobs" build_generated libcrypto.a libssl.a
	cp libcrypto.a libssl.a "$install/lib"
	cp -r include/openssl "$install/include"
}

obtain
cd "$runners/openssl"
compile "$name" -include "$here/older.h" -I. -I"$install/include" "$here"/*.c aead.c capabilities.c cipher.c digest.c \
	exchange.c message_signature.c random.c tls.c "$install/lib/libssl.a" "$install/lib/libcrypto.a"
