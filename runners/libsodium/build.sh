#!/bin/sh
# libsodium as a static library, then the runner. The crate carries the release as an archive.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../sdk/crate.sh"

recipe() {
	tar -xzf "$crate/LATEST.tar.gz"
	cd libsodium-stable
	./configure --quiet --disable-shared --prefix="$install" ${target:+"--host=$target"}
	make -s -j"$jobs"
	make -s install
}

obtain
compile libsodium -I"$install/include" "$here"/*.c "$install/lib/libsodium.a"
