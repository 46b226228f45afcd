#!/bin/sh
# Three builds: as a user gets it (features found at run time), for this processor alone, and without its instructions.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/rust.sh"

program full
program native "-Ctarget-cpu=native"
soft=""
for part in aes_backend=\"soft\" polyval_backend=\"soft\" sha1_backend=\"soft\" sha2_backend=\"soft\" \
	keccak_backend=\"soft\" chacha20_backend=\"soft\" poly1305_backend=\"soft\" curve25519_dalek_backend=\"serial\"; do
	soft="$soft --cfg $part"
done
program soft "$soft"
