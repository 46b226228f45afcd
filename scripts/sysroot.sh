#!/bin/sh
# Libraries of another processor, from the distribution's own packages, into build/sysroots/TRIPLET: unpacked there, not
# installed, so that nothing else on the machine changes and nobody needs to be root. For systems with apt.
# Prints the variables that make `perbyte build` and everything after it use them:
#   eval "$(sh scripts/sysroot.sh aarch64-linux-gnu libssl-dev libssl3)"
# Packages are taken as named, without what they depend on: libc comes with the cross compiler.
set -eu
[ $# -ge 2 ] || {
	echo "usage: sysroot.sh TRIPLET PACKAGE..." >&2
	exit 2
}
triplet=$1
shift
cd "$(dirname "$0")/.."
machine=${triplet%%-*}
case $machine in
aarch64) architecture=arm64 ;;
x86_64) architecture=amd64 ;;
powerpc64le) architecture=ppc64el ;;
*) architecture=$machine ;;
esac
root=$PWD/build/sysroots/$triplet
mkdir -p "$root"
exec 9>"$root.lock"
flock 9

wanted=""
for package in "$@"; do
	[ -e "$root/.packages/$package" ] || wanted="$wanted $package"
done
if [ -n "$wanted" ]; then
	command -v apt-get >/dev/null || {
		echo "sysroot.sh needs apt: unpack$wanted for $architecture into $root by other means" >&2
		exit 3
	}
	work=$(mktemp -d "$root.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$root/.packages"
	own() {
		apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Dir::State="$work" \
			-o Dir::State::lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" \
			-o APT::Sandbox::User= -o Acquire::Languages=none "$@" >&2
	}
	own update
	# shellcheck disable=SC2086
	(cd "$work" && own download $wanted)
	for file in "$work"/*.deb; do
		dpkg-deb --extract "$file" "$root"
	done
	for package in $wanted; do
		: >"$root/.packages/$package"
	done
fi

libraries=$root/usr/lib/$triplet:$root/lib/$triplet
flags="-isystem $root/usr/include/$triplet -isystem $root/usr/include -L $root/usr/lib/$triplet -Wl,-rpath-link,$libraries"
emulated=$machine
[ "$machine" != powerpc64le ] || emulated=ppc64le
cat <<END
export PERBYTE_TARGET='$triplet'
export CC='$triplet-gcc $flags'
export CXX='$triplet-g++ $flags'
export PERBYTE_EMULATOR='qemu-$emulated -L /usr/$triplet -E LD_LIBRARY_PATH=$libraries'
END
