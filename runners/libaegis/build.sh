#!/bin/sh
# libaegis as a static library, as its own build file has it, then the runner. Its version is that of the crate.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	source=$crate/src/c/libaegis/src
	cp "$source"/include/*.h "$install/include"
	$cc -O3 -I"$source/include" -c "$source"/*/*.c
	$ar rcs "$install/lib/libaegis.a" ./*.o
}

obtain
read -r _ version _ <"$crates"
compile libaegis -DLIBRARY_VERSION="\"$version\"" -I"$install/include" "$here/table.c" "$install/lib/libaegis.a"
