#!/bin/sh
# AWS-LC as a static library (no Go, no Perl), then the runner.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	cmake -S "$crate/aws-lc" -B making -DCMAKE_BUILD_TYPE=Release -DDISABLE_GO=ON -DDISABLE_PERL=ON \
		-DBUILD_TESTING=OFF -DBUILD_TOOL=OFF -DBUILD_LIBSSL=OFF
	make -C making -j"$jobs" crypto
	cp making/crypto/libcrypto.a "$install/lib"
	cp -r "$crate/aws-lc/include/openssl" "$install/include"
	cp -r making/symbol_prefix_include/* "$install/include" 2>/dev/null || true
}

obtain
compile aws-lc -I"$install/include" "$here"/*.c "$install/lib/libcrypto.a"
