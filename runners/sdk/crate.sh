# Sourced by the build.sh of runners whose library is built here from the source that a crate carries. No Rust is
# compiled: cargo fetches and unpacks, as it is configured on the machine, and the library's own build does the rest.
#
#   . "$here/../sdk/crate.sh"          $1 is the directory of the products
#   recipe() { ... }                   in an empty directory; $crate is the unpacked crate, $jobs the cores to use;
#                                      leaves headers in $install/include and libraries in $install/lib
#   obtain                             the library, once: it stays beside the products until its state changes
#   compile NAME FLAGS AND FILES...    the runner: SDK, sources, libraries (compile_cxx: in C++)
#
# crates.txt in the runner's directory pins one crate: name, version and SHA-256. Cargo would verify a lock file's
# checksums, but a lock file would hold the address of a registry.
# shellcheck shell=sh disable=SC2154
set -eu

out=$1
runners=$(dirname -- "$here")
name=${PERBYTE_NAME:-$(basename -- "$here")} # another version of the library has a name of its own,
crates=${PERBYTE_CRATES:-$here/crates.txt}    # and its own line
shared=$(dirname -- "$out")/.$name-library
install=$shared/install
cc=${CC:-cc}
cxx=${CXX:-c++}
target=${PERBYTE_TARGET:-} # as compilers name it, where it is not this machine's; CC and CXX are for it then
machine=${target%%-*}
machine=${machine:-$(uname -m)}
ar=${target:+$target-}ar
jobs=${PERBYTE_JOBS:-$(getconf _NPROCESSORS_ONLN)}

state() {
	(
		echo "$machine"
		$cc --version
		cat "$crates" "$here/build.sh"
	) | sha256sum
}

unpack() {
	. "$runners/sdk/cargo.sh"
	read -r crate_name crate_version crate_sum _ <"$crates" # then the library's own version may stand
	mkdir -p src
	echo 'fn main() {}' >src/main.rs
	printf '[package]\nname = "unpack"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s = { version = "=%s", default-features = false }\n' \
		"$crate_name" "${crate_version%%+*}" >Cargo.toml
	if ! cargo vendor --quiet vendor >vendor.log 2>&1; then
		cat vendor.log >&2
		echo "the source of $name could not be fetched: cargo needs its registry, or a copy of it (crate $crate_name $crate_version); run this again when it is there" >&2
		exit 1
	fi
	locked=$(awk -v name="\"$crate_name\"" '$1 == "name" { found = $3 == name } found && $1 == "checksum" { gsub(/"/, "", $3); print $3 }' Cargo.lock)
	if [ "$locked" != "$crate_sum" ]; then
		echo "crate $crate_name $crate_version has the checksum $locked, and crates.txt says $crate_sum" >&2
		exit 1
	fi
	crate=$shared/making/vendor/$crate_name
}

obtain() {
	mkdir -p "$shared"
	exec 9>"$shared/lock"
	flock 9
	[ "$(cat "$shared/state" 2>/dev/null)" != "$(state)" ] || return 0
	rm -rf "$shared/state" "$shared/making" "$install"
	mkdir -p "$shared/making" "$install/include" "$install/lib"
	cd "$shared/making"
	unpack
	# Not as the condition of an `if`: there a shell goes on after a command of the recipe that failed.
	set +e
	(
		set -e
		recipe
	) >"$shared/log" 2>&1
	failed=$?
	set -e
	if [ "$failed" -ne 0 ]; then
		tail -n 40 "$shared/log" >&2
		echo "the library was not built; all that was said is in $shared/log" >&2
		exit 1
	fi
	cd "$here"
	rm -rf "$shared/making"
	state >"$shared/state"
}

compile() {
	program=$1
	shift
	flags="-std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror"
	# shellcheck disable=SC2086
	$cc $flags -DPB_COMPILER="\"$($cc --version | sed 1q)\"" -DPB_FLAGS="\"$flags\"" -DRUNNER_NAME="\"$name\"" \
		-I"$runners/sdk/c" -o "$out/$program" "$runners"/sdk/c/*.c "$@" -lm -ldl -pthread
}

# The same for runners in C++: *.cpp among the arguments by the C++ compiler, the SDK by the C compiler.
compile_cxx() {
	program=$1
	shift
	flags="-std=c++20 -O2 -g -Wall -Wextra -Werror"
	work=$(mktemp -d "$out/.objects-XXXXXX")
	# shellcheck disable=SC2086
	(
		cd "$work"
		$cc -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -DPB_COMPILER="\"$($cxx --version | sed 1q)\"" \
			-DPB_FLAGS="\"$flags\"" -I"$runners/sdk/c" -c "$runners"/sdk/c/*.c
		$cxx $flags -DRUNNER_NAME="\"$name\"" -I"$runners/sdk/c" -o "$out/$program" ./*.o "$@" -lm -ldl -pthread
	)
	rm -rf "$work"
}
