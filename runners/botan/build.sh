#!/bin/sh
# Botan 3 as a static library with the modules that the runner has rows for, then the runner.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

modules="aes,aes_ni,aes_vaes,aes_vperm,aes_armv8,cbc,ctr,ctr_avx2,ctr_simd32,xts,xts_avx512_clmul"
modules="$modules,gcm,ghash,ghash_cpu,ghash_vperm,ghash_avx512_clmul,ccm,ocb,gcm_siv,polyval,siv,camellia,aria"
modules="$modules,chacha,chacha_simd32,chacha_avx2,chacha_avx512,poly1305,poly1305_avx2,poly1305_avx512,chacha20poly1305"
modules="$modules,sha1,sha1_x86,sha2_32,sha2_32_x86,sha2_32_avx2,sha2_64,sha2_64_avx2,sha2_64_x86,sha3,shake,keccak_perm_bmi2"
modules="$modules,keccak_perm_avx512,blake2,blake2s,ascon_aead128,ascon_hash256,hmac,cmac,gmac,kmac,siphash"
modules="$modules,hkdf,pbkdf2,scrypt,argon2,argon2_avx2,argon2_avx512,bcrypt,system_rng,os_utils"
modules="$modules,x25519,x448,ed25519,ed448,ecdh,ecdsa,raw_hash,pcurves_secp256r1,pcurves_secp384r1"
modules="$modules,pcurves_brainpool256r1,pcurves_brainpool384r1,pcurves_brainpool512r1"
modules="$modules,dh,ml_kem,ml_dsa,slh_dsa_sha2,slh_dsa_shake,hss_lms,xmss"

available() {
	known=$(python3 configure.py --list-modules)
	for module in $(echo "$modules" | tr ',' ' '); do
		echo "$known" | grep -qx "$module" && printf '%s,' "$module"
	done
}

recipe() {
	tar -xJf "$crate"/vendor/Botan-*.tar.xz
	cd Botan-*
	python3 configure.py --minimized-build --enable-modules="$(available)" --build-targets=static --without-documentation \
		--amalgamation --prefix="$install" --cc=gcc
	make -j"$jobs" libs
	cp libbotan-3.a "$install/lib"
	cp -rL build/include/public/botan "$install/include"
}

obtain
compile_cxx botan -I"$install/include" "$here"/*.cpp "$install/lib/libbotan-3.a"
