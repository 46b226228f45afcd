#!/bin/sh
# A newer OpenSSL 3 as a static library with the provider `legacy` inside, then the C sources of the runner `openssl`.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"
. "$runners/openssl/configure.sh"

recipe() {
	cd "$crate/openssl"
	configure no-shared no-module no-tests no-docs no-apps enable-legacy enable-weak-ssl-ciphers enable-rc5 enable-md2
	make -s -j"$jobs" build_generated libcrypto.a libssl.a
	cp libcrypto.a libssl.a "$install/lib"
	cp -r include/openssl include/crypto "$install/include"
}

obtain
compile "$name" -I"$install/include" "$runners"/openssl/*.c "$install/lib/libssl.a" "$install/lib/libcrypto.a"
