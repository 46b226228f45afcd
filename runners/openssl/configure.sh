# Sourced by the build.sh of runners that build OpenSSL. Its script refuses an option that its version does not know,
# so those are left out.
# shellcheck shell=sh

configure() {
	known=
	for option in "$@"; do
		feature=${option#no-}
		if sed -n '/^my @disablables = /,/);/p' Configure | grep -q "\"${feature#enable-}\""; then
			known="$known $option"
		fi
	done
	# shellcheck disable=SC2086
	./config $known
}
