#!/bin/sh
# Build the runner into the directory that is named: first, once, the library (some minutes), then the same C sources
# that make the runner `openssl`. The library is kept beside the products, so that a change of the runner's own sources
# costs seconds. MAKEFLAGS=-j1 in the environment keeps the library's build on one core.
set -eu

out=$1
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
runners=$(dirname -- "$here")
shared=$(dirname -- "$out")/.openssl-next-library
cc=${CC:-cc}
target=$(rustc -vV | sed -n 's/^host: //p')

state() {
	(
		echo "$target"
		$cc --version
		cat "$here/Cargo.toml" "$here/crates.txt" "$here/main.rs"
	) | sha256sum
}

# name, version and checksum of every crate that Cargo.lock names, one a line
locked_crates() {
	sed -n 's/^name = "\(.*\)"$/\1/p; s/^version = "\(.*\)"$/\1/p; s/^checksum = "\(.*\)"$/\1/p; /^\[\[package\]\]$/s/.*/=/p' |
		tr '\n' ' ' | tr '=' '\n' | sed 's/^ //; s/ $//' | awk 'NF == 3' | sort
}

make_library() {
	rm -rf "$shared/making" "$shared/install"
	mkdir -p "$shared/making"
	cp "$here/Cargo.toml" "$here/main.rs" "$shared/making"
	cd "$shared/making"
	cargo generate-lockfile --quiet
	sort "$here/crates.txt" >pinned
	locked_crates <Cargo.lock >locked
	if ! cmp -s pinned locked; then
		echo "the crates that cargo chose are not those of crates.txt:" >&2
		diff pinned locked >&2 || true
		exit 1
	fi
	cargo build --quiet --locked --release --target-dir "$shared/making/target"
	MAKEFLAGS=${MAKEFLAGS--j$(getconf _NPROCESSORS_ONLN)} \
		"$shared/making/target/release/make-openssl" "$shared/making/openssl" "$target"
	mv "$shared/making/openssl/install" "$shared/install"
	cd "$here"
	rm -rf "$shared/making"
	state >"$shared/state"
}

mkdir -p "$shared"
exec 9>"$shared/lock"
flock 9
if [ "$(cat "$shared/state" 2>/dev/null)" != "$(state)" ]; then
	rm -f "$shared/state"
	make_library
fi
flags="-std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror"
$cc $flags -DPB_COMPILER="\"$($cc --version | sed 1q)\"" -DPB_FLAGS="\"$flags\"" -DRUNNER_NAME='"openssl-next"' \
	-I"$runners/sdk/c" -I"$shared/install/include" -o "$out/openssl-next" \
	"$runners"/sdk/c/*.c "$runners"/openssl/*.c "$shared/install/lib/libcrypto.a" -lm -ldl -pthread
