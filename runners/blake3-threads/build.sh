#!/bin/sh
# The blake3 crate with its threads: cargo's defaults, and the assembly of the authors.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/rust.sh"

program full
