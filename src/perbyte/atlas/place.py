"""Where an atlas lies: a directory, or a store behind a URL (`s3://bucket/perbyte`), both by fsspec.

What a directory promises beyond a store is done here: files appear in one step and on the disk, links are refused.
Files of a directory are opened in place; those of a store are fetched once, checked against the index and kept in the
user's cache. A name is joined to the root only when all its parts are plain words, and no part may be a link.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.atomic import sync_directory
from perbyte.errors import StoreError, UsageError
from perbyte.store.files import check_regular, disk_error, replace_atomically

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9=._+-]{0,120}")
_CHUNK = 1 << 20


class AtlasPlace:
    """The files of one atlas; `name` arguments are paths below its root, with `/` between plain words."""

    def __init__(self, url: str) -> None:
        """Reach the store behind `url`. Raises UsageError where nothing here can."""
        import fsspec

        self.url, self.local = url, "://" not in url
        if self.local:
            self._fs, self.root = fsspec.filesystem("file"), os.path.realpath(Path(url).expanduser())
            return
        try:
            self._fs, self.root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            self._fs, self.root = _by_arrow(url, error)

    def empty(self) -> bool:
        """Whether nothing lies at the root of a directory, or nobody can tell."""
        return not self.local or not Path(self.root).is_dir() or not any(Path(self.root).iterdir())

    def names(self, folder: str) -> list[str]:
        """The names of the files in `folder`, sorted; none where it is missing. Raises StoreError."""
        with self._reached():
            try:
                self._fs.invalidate_cache()
                entries = self._fs.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return []
            # in a directory what is no file, such as a link, is named too: reading it is refused, and said
            return sorted(
                str(entry["name"]).rpartition("/")[2]
                for entry in entries
                if self.local or entry.get("type") == "file"
            )

    def read(self, name: str, limit_bytes: int) -> bytes:
        """The content of a small file. Raises StoreError where it is missing, no file, or larger than `limit_bytes`."""
        if self.local:
            place = Path(self._at(name))
            check_regular(place, limit_bytes)
            return place.read_bytes()
        with self._reached():
            size = int(self._fs.info(self._at(name)).get("size") or 0)
            if size > limit_bytes:
                raise StoreError(
                    f"{self.url}/{name} has {size} bytes, more than the {limit_bytes} an atlas has there",
                    hint="this is not an atlas of Perbyte, or it is damaged",
                )
            with self._fs.open(self._at(name), "rb") as file:
                return bytes(file.read(limit_bytes + 1)[:limit_bytes])

    def holds(self, name: str) -> bool:
        """Whether there is a file of this name."""
        with self._reached():
            return bool(self._fs.exists(self._at(name)))

    def bring(self, source: Path, name: str) -> None:
        """Move the file `source` to `name`; a reader sees all of it or nothing. Raises StoreError."""
        if not self.local:
            with self._reached():
                self._fs.put_file(str(source), self._at(name))
            source.unlink()
            return
        place = Path(self._at(name))
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with source.open("rb") as file:
                os.fsync(file.fileno())
            if source.stat().st_dev == place.parent.stat().st_dev:
                source.replace(place)
                sync_directory(place.parent)
                return
        except OSError as error:
            raise disk_error(error, place.parent) from error
        replace_atomically(place, lambda part: shutil.move(source, part))

    def write(self, name: str, content: bytes) -> None:
        """Write a small file; a reader sees all of it or nothing. Raises StoreError."""
        if not self.local:
            with self._reached():
                self._fs.pipe_file(self._at(name), content)
            return
        place = Path(self._at(name))
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, place.parent) from error
        replace_atomically(place, lambda part: part.write_bytes(content))

    def remove(self, name: str) -> None:
        """Remove a file; nothing happens where there is none."""
        with self._reached(), contextlib.suppress(FileNotFoundError):
            if self._fs.exists(self._at(name)):
                self._fs.rm_file(self._at(name))

    def opened(self, name: str, size_bytes: int, sha256: str, *, check: bool = False) -> Path:
        """A file of this machine with the content of `name`, whose size (with `check` also hash) is the one given.

        Raises StoreError where it is missing, a link, or not what the index says.
        """
        if self.local:
            place = Path(self._at(name))
            if check_regular(place, size_bytes) != size_bytes or (check and _hash(place) != sha256):
                raise StoreError(
                    f"{place} differs from the atlas' index",
                    hint="fetch the atlas again; perbyte atlas verify",
                )
            return place
        kept = places.atlas_cache() / hashlib.sha256(f"{self.url}/{name}".encode()).hexdigest()
        if kept.is_file() and kept.stat().st_size == size_bytes and not check:
            return kept
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            replace_atomically(kept, lambda part: self._fetch(name, part, size_bytes))
        except OSError as error:
            raise disk_error(error, kept.parent) from error
        if kept.stat().st_size != size_bytes or _hash(kept) != sha256:
            kept.unlink()
            raise StoreError(
                f"{self.url}/{name} differs from the atlas' index", hint="try again; perbyte atlas verify"
            )
        return kept

    def _fetch(self, name: str, target: Path, size_bytes: int) -> None:
        with self._reached(), self._fs.open(self._at(name), "rb") as source, target.open("wb") as file:
            left = size_bytes + 1
            while left > 0 and (piece := source.read(min(_CHUNK, left))):
                file.write(piece)
                left -= len(piece)

    def _at(self, name: str) -> str:
        if not all(_PART.fullmatch(part) for part in name.split("/")):
            raise StoreError(
                f"{name[:100]!r} is not a file name of an atlas' file", hint="the atlas is damaged"
            )
        place = f"{self.root.rstrip('/')}/{name}"
        if self.local and os.path.realpath(place) != place:
            raise StoreError(
                f"{place} is a link, and an atlas has no links",
                hint="copy the atlas with the files themselves",
            )
        return place

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """Turn whatever a store raises into a StoreError."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise StoreError(
                f"the atlas {self.url} cannot be reached: {text}",
                hint="check the address, the network and the right to write there",
            ) from error


def _hash(place: Path) -> str:
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _by_arrow(url: str, error: Exception) -> tuple[Any, str]:
    """The store by Arrow's own readers of S3 and Google's store, where fsspec's package for it is not installed."""
    kind = url.partition("://")[0]
    if kind in ("s3", "gs", "gcs"):
        import pyarrow.fs
        from fsspec.implementations.arrow import ArrowFSWrapper

        files, root = pyarrow.fs.FileSystem.from_uri(url)
        return ArrowFSWrapper(files), root
    raise UsageError(
        f"nothing here reaches {url}: {error}",
        hint="give a directory, s3://..., or install fsspec's package for this kind of store",
    ) from error
