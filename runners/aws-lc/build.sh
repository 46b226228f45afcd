#!/bin/sh
# AWS-LC as a static library (no Go, no Perl), then the runner.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	cmake -S "$crate/aws-lc" -B making -DCMAKE_BUILD_TYPE=Release -DDISABLE_GO=ON -DDISABLE_PERL=ON \
		-DBUILD_TESTING=OFF -DBUILD_TOOL=OFF
	make -C making -j"$jobs" crypto ssl
	cp making/crypto/libcrypto.a making/ssl/libssl.a "$install/lib"
	cp -r "$crate/aws-lc/include/openssl" "$install/include"
	cp -r making/symbol_prefix_include/* "$install/include" 2>/dev/null || true
}

obtain
compile aws-lc -I"$install/include" -DRUNNER_TLS -Devp_fail=library_fail "$here"/*.c "$runners/openssl/tls.c" "$runners/openssl/random.c" "$install/lib/libssl.a" "$install/lib/libcrypto.a" -lstdc++
