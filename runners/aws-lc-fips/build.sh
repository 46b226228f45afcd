#!/bin/sh
# The FIPS module of AWS-LC in a static library, then the runner, made of the same sources as that of AWS-LC. Go and Perl
# put the module together; Go fetches nothing.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	GOCACHE=$PWD/go GOFLAGS=-mod=mod GOPROXY=off cmake -S "$crate/aws-lc" -B making -DCMAKE_BUILD_TYPE=Release -DFIPS=1 \
		-DBUILD_SHARED_LIBS=0 -DBUILD_TESTING=OFF -DBUILD_TOOL=OFF -DBUILD_LIBSSL=OFF
	GOCACHE=$PWD/go GOPROXY=off make -C making -j"$jobs" crypto
	cp making/crypto/libcrypto.a "$install/lib"
	cp -r "$crate/aws-lc/include/openssl" "$install/include"
}

obtain
compile aws-lc-fips -DRUNNER_FIPS -I"$install/include" "$runners"/aws-lc/*.c "$install/lib/libcrypto.a"
