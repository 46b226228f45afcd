#!/bin/sh
# graviola as cargo builds it when nothing is said: its code finds the processor's features at run time.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/rust.sh"

program full
