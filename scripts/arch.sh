#!/bin/sh
# Build runners for processors that this machine is not, and test them under user-mode emulation: everything but speed.
# What cannot be had (not root, no apt, no cargo) is said, and its tests are skipped.
set -eu
cd "$(dirname "$0")/.."

sh scripts/setup.sh "${1:-python3}" gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu gcc-s390x-linux-gnu \
	libc6-dev-arm64-cross libc6-dev-riscv64-cross libc6-dev-s390x-cross qemu-user
for target in aarch64-linux-gnu s390x-linux-gnu; do # Debian 12 has no packages for riscv64
	sh scripts/sysroot.sh "$target" libssl-dev libssl3 nettle-dev libnettle8 libhogweed6 libgmp-dev libgmp10 >/dev/null ||
		echo "no libraries for $target: their tests are skipped" >&2
done
for target in aarch64-linux-gnu riscv64-linux-gnu s390x-linux-gnu; do
	PERBYTE_TARGET=$target .venv/bin/perbyte build blake3 || echo "blake3 could not be built for $target" >&2
done
PERBYTE_TARGET=riscv64-linux-gnu .venv/bin/perbyte build libsodium || echo "libsodium could not be built for riscv64" >&2
.venv/bin/pytest -q --numprocesses auto -m apart tests/arch
