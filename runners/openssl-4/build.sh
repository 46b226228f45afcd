#!/bin/sh
# OpenSSL 4 as a static library with the provider `legacy` inside, then the C sources of the runner `openssl`.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	cd "$crate/openssl"
	./config no-shared no-module no-tests no-docs no-apps enable-legacy enable-weak-ssl-ciphers enable-rc5 enable-md2
	make -s -j"$jobs" build_generated libcrypto.a libssl.a
	cp libcrypto.a libssl.a "$install/lib"
	cp -r include/openssl include/crypto "$install/include"
}

obtain
compile openssl-4 -I"$install/include" "$runners"/openssl/*.c "$install/lib/libssl.a" "$install/lib/libcrypto.a"
