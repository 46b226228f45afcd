#!/bin/sh
# Builds the fuzzer of the C SDK's reader: sh build_reader.sh TARGET [CC]. With clang it is a libFuzzer, else it has a
# main of its own; CFLAGS=-DREADER_ONLY leaves
# the server out. ASan and UBSan watch both; the first complaint ends it.
set -eu
target=$1 cc=${2:-$(command -v clang || command -v cc)}
here=$(cd "$(dirname "$0")" && pwd) sdk=$here/../../runners/sdk/c
sources=$(ls "$sdk"/*.c | grep -v /serve.c)
case $(basename "$cc") in
clang*) kind=-fsanitize=fuzzer ;;
*) kind=-DSTANDALONE ;;
esac
# shellcheck disable=SC2086
exec "$cc" -std=c11 -D_GNU_SOURCE -g -O2 $kind -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-I"$sdk" -I"$here" "$here/reader.c" $sources ${CFLAGS:-} -o "$target" -ldl -lm
