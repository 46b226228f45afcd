#!/bin/sh
# OpenSSL 3 with its FIPS provider, then the C sources of the runner `openssl`, which load nothing but that provider.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

# The crate leaves out what writes the module's list of symbols, which has one. `fipsinstall` runs the module's self tests
# and writes down its MAC, without which the module refuses to be loaded.
recipe() {
	cd "$crate/openssl"
	: >util/providers.num
	echo 'print "{ global: OSSL_provider_init; local: *; };\n";' >util/mkdef.pl
	./config no-shared enable-fips no-tests no-docs no-legacy
	make -s -j"$jobs" build_generated libcrypto.a libssl.a apps/openssl providers/fips.so
	cp libcrypto.a libssl.a providers/fips.so "$install/lib"
	cp -r include/openssl include/crypto "$install/include"
	apps/openssl fipsinstall -quiet -module providers/fips.so -out "$install/lib/fipsmodule.cnf"
}

obtain
compile "$name" -DRUNNER_FIPS -I"$install/include" "$runners"/openssl/*.c "$install/lib/libssl.a" "$install/lib/libcrypto.a" -rdynamic
cp "$install/lib/fips.so" "$out/"
cat "$here/openssl.cnf" "$install/lib/fipsmodule.cnf" >"$out/openssl.cnf"
