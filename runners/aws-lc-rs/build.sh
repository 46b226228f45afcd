#!/bin/sh
# aws-lc-rs as cargo builds it when nothing is said: its code finds the processor's features at run time.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
# shellcheck disable=SC2034 # rust.sh reads it
also=ring
. "$here/../sdk/rust.sh"

program full
program soft # the same code; the environment makes the tier
