#!/bin/sh
# rustls with the provider ring, as cargo builds them; the table of the runner is in C.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
libraries=$here/tls.c
for function in configs free_configs end free_end go_on put get export; do
	libraries="$libraries -Wl,-u,rustls_$function"
done
. "$here/../sdk/rust.sh"

program full
