#!/bin/sh
# liboqs, twice: with all it can choose from at run time, and for no CPU in particular (tier `soft`), because it has no
# switch; then a runner of each. Only what the runner has rows for is built.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

wanted="KEM_ml_kem_512;KEM_ml_kem_768;KEM_ml_kem_1024;SIG_ml_dsa_44;SIG_ml_dsa_65;SIG_ml_dsa_87;SIG_falcon_padded_512;SIG_falcon_padded_1024"
for one in 640_aes 640_shake 976_aes 976_shake 1344_aes 1344_shake; do wanted="$wanted;KEM_frodokem_$one"; done
for one in 348864 460896 6688128; do wanted="$wanted;KEM_classic_mceliece_$one"; done
for one in 128 192 256; do wanted="$wanted;KEM_hqc_$one"; done
stateful="lms_sha256_h5_w8_h5_w8 lms_sha256_h10_w4_h5_w8 xmss_sha256_h10 xmss_shake256_h10_256"
for one in $stateful; do wanted="$wanted;SIG_STFL_$one"; done

one() {
	built=$1
	shift
	cmake -S "$crate/liboqs" -B "$built" -DCMAKE_BUILD_TYPE=Release -DOQS_BUILD_ONLY_LIB=ON -DOQS_USE_OPENSSL=OFF \
		"-DOQS_MINIMAL_BUILD=$wanted" -DOQS_ENABLE_KEM_HQC=ON -DOQS_ENABLE_SIG_STFL_LMS=ON -DOQS_ENABLE_SIG_STFL_XMSS=ON \
		-DOQS_HAZARDOUS_EXPERIMENTAL_ENABLE_SIG_STFL_KEY_SIG_GEN=ON "$@"
	make -C "$built" -j"$jobs"
	cp "$built/lib/liboqs.a" "$install/lib/$built.a"
	cp -r "$built/include/oqs" "$install/include"
}

recipe() {
	one soft -DOQS_DIST_BUILD=OFF -DOQS_OPT_TARGET=generic
	one full -DOQS_DIST_BUILD=ON
}

obtain
for tier in full soft; do
	compile "liboqs-$tier" -DBUILT_AS="\"$tier\"" -I"$install/include" "$here"/*.c "$install/lib/$tier.a"
done
