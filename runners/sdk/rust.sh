# Sourced by the build.sh of runners in Rust: cargo fetches the crates that Cargo.lock pins, as it is configured on the
# machine, and makes a static library of tables; main.c and the C SDK make a program of it, one for each tier.
#
#   . "$here/../sdk/rust.sh"           $1 is the directory of the products, $2 that of the SDKs
#   also="OTHER ..."                   other runners whose sources this one's include, if any
#   program TIER [RUSTFLAGS]           builds $name-TIER; tiers of the same flags share what cargo has compiled
#
# Cargo.lock is kept without the lines that hold the address of a registry; they are put back with the one that this
# machine's cargo uses. The checksums stay, so that no other crate can take a place.
# shellcheck shell=sh disable=SC2154
set -eu

out=$1
sdk=${2:-$(dirname -- "$here")/sdk}
name=$(basename -- "$here")
work=$(dirname -- "$out")/.$name-crates
cc=${CC:-cc}

# The crate beside its SDK, as in the runners' directory, where nothing may be written.
lay_out() {
	. "$sdk/cargo.sh"
	mkdir -p "$work/$name" "$work/sdk" "$work/registry/src"
	rm -rf "$work/sdk/rust" "$work/$name/src"
	cp -r "$sdk/rust" "$work/sdk/rust"
	cp -r "$here/src" "$here/Cargo.toml" "$work/$name/"
	for one in ${also:-}; do
		mkdir -p "$work/$one" && rm -rf "$work/$one/src" && cp -r "$here/../$one/src" "$work/$one/"
	done
	[ -f "$here/Cargo.lock" ] || return 0
	printf '[package]\nname = "registry"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\ncfg-if = "1"\n' >"$work/registry/Cargo.toml"
	echo 'fn main() {}' >"$work/registry/src/main.rs"
	if ! (cd "$work/registry" && cargo generate-lockfile --quiet) >"$work/log" 2>&1; then
		cat "$work/log" >&2
		echo "cargo needs its registry, or a copy of it; run this again when it is there" >&2
		exit 1
	fi
	source=$(grep -m 1 '^source = ' "$work/registry/Cargo.lock")
	awk -v source="$source" '/^checksum = / { print source } { print }' "$here/Cargo.lock" >"$work/$name/Cargo.lock"
}

program() {
	tier=$1
	flags=${2:-}
	[ -n "${laid_out:-}" ] || lay_out
	laid_out=yes
	target=$work/target-$(printf '%s' "$flags" | cksum | cut -d ' ' -f 1)
	locked=$([ ! -f "$here/Cargo.lock" ] || echo --locked)
	# shellcheck disable=SC2086
	if ! (cd "$work/$name" && PERBYTE_TIER=$tier PERBYTE_RUNNER_NAME=$name RUSTFLAGS="$flags" \
		cargo build --release $locked --quiet --target-dir "$target") >"$work/log" 2>&1; then
		tail -n 60 "$work/log" >&2
		exit 1
	fi
	c_flags="-std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror"
	told=$(printf '%s' "opt-level=3 $flags" | sed 's/"/\\"/g')
	# shellcheck disable=SC2086
	$cc $c_flags -DPB_COMPILER="\"$(rustc --version)\"" -DPB_FLAGS="\"$told\"" -I"$sdk/c" \
		-o "$out/$name-$tier" "$sdk"/c/*.c "$sdk/rust/main.c" \
		"$target/release/librunner.a" ${libraries:-} -lm -ldl -pthread
}
