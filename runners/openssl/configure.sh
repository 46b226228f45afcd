# Sourced by the build.sh of runners that build OpenSSL. Its script refuses an option that its version does not know,
# so those are left out. Curves get the code for 128-bit products that packages have, where the compiler makes such
# products: without it P-521 costs six times as much, which is no property of a version.
# shellcheck shell=sh

configure() {
	known=
	if [ "$(${CC:-cc} -dM -E - </dev/null | grep -c -e '__SIZEOF_INT128__' -e '__BYTE_ORDER__ __ORDER_LITTLE')" = 2 ]; then
		set -- "$@" enable-ec_nistp_64_gcc_128
	fi
	for option in "$@"; do
		feature=${option#no-}
		if sed -n '/^my @disablables = /,/);/p' Configure | grep -q "\"${feature#enable-}\""; then
			known="$known $option"
		fi
	done
	# shellcheck disable=SC2086
	./config $known
}
