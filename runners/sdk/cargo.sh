# Sourced by rust.sh and crate.sh before cargo works: without a toolchain each cargo of rustup says so with a backtrace.
# shellcheck shell=sh
if ! told=$(cargo --version 2>&1); then
	printf '%s\n' "$told" | head -n 1 >&2
	echo "cargo does not run; rustup gets a toolchain by: rustup default stable" >&2
	exit 1
fi
