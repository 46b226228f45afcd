#!/bin/sh
# Build the Java runner into the directory that is named. All jca-* runners are the same program, so what one has
# built is kept beside their directories and linked by the others. Maven is asked offline first, so that a machine
# that has built once needs no network again.
set -eu

out=$1
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
runners=$(dirname -- "$here")
c=$runners/sdk/c
home=$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v javac)")")")
shared=$(dirname -- "$out")/.jca

state() {
	(
		javac -version 2>&1
		find "$here" "$runners/sdk/java" -name target -prune -o -type f -exec sha256sum {} + | sort
		sha256sum "$c"/*.[ch] "$runners/openssl/key_numbers.h"
	) | sha256sum
}

package() {
	mvn -q -B "$@" -f "$here/pom.xml" -Dperbyte.target="$shared/new/target" package
}

mkdir -p "$shared"
exec 9>"$shared/lock"
flock 9
if [ "$(cat "$shared/state" 2>/dev/null)" != "$(state)" ]; then
	rm -rf "$shared/new"
	mkdir "$shared/new"
	package -o >/dev/null 2>&1 || package
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -shared -fPIC \
		-I"$c" -I"$home/include" -I"$home/include/linux" -o "$shared/new/libperbytegauge.so" \
		"$runners/sdk/java/gauge_jni.c" "$c/gauge.c" "$c/kernel.c" "$c/contention.c" "$c/window.c" "$c/window_text.c" "$c/effect.c" "$c/counter.c" "$c/pmu.c" -lm
	mv "$shared/new/target/perbyte-jca.jar" "$shared/new/target/lib" "$shared/new"
	rm -rf "$shared/new/target" "$shared/products"
	mv "$shared/new" "$shared/products"
	state >"$shared/state"
fi
cp -al "$shared/products/." "$out" 2>/dev/null || cp -a "$shared/products/." "$out"
