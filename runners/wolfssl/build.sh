#!/bin/sh
# wolfCrypt as a static library, with all the assembly that it has for this CPU, then the runner.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	cd "$crate/wolfssl-src"
	autoreconf -i
	case $(uname -m) in
	x86_64) assembly="--enable-intelasm --enable-sp-asm" ;;
	aarch64) assembly="--enable-armasm --enable-sp-asm" ;;
	*) assembly= ;;
	esac
	# shellcheck disable=SC2086
	./configure -q --prefix="$install" --enable-static --disable-shared --enable-cryptonly --disable-examples \
		--disable-crypttests --enable-sp=yes,384 $assembly --enable-aesctr --enable-aesccm --enable-aesxts \
		--enable-aessiv --enable-aesgcm-siv --enable-cmac --enable-camellia --enable-xchacha --enable-sha3 \
		--enable-shake128 --enable-shake256 --enable-kmac --enable-blake2 --enable-blake2s --enable-siphash \
		--enable-hkdf --enable-scrypt --enable-argon2 --enable-curve25519 --enable-ed25519 --enable-curve448 \
		--enable-ed448 --enable-ecc --enable-compkey --enable-mlkem --enable-mldsa
	make -s -j"$jobs"
	make -s install
}

obtain
compile wolfssl -I"$install/include" "$here"/*.c "$install/lib/libwolfssl.a"
