"""The index of an atlas: which runs it has, and in which files.

Each `add` leaves one segment, so that machines may add at the same time without a lock. `pack` writes one segment
that stands for others and says so. Of a run that several segments have, the newest counts.
"""

from __future__ import annotations

import datetime
import secrets
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from perbyte.atlas.place import AtlasPlace
from perbyte.errors import NoSuchRun, StoreError, UsageError
from perbyte.store.files import MEBIBYTE

SCHEMA = 1
TOP = "atlas.json"
_INDEX = "index"
_TOP_LIMIT = 4096
_SEGMENT_LIMIT = 256 * MEBIBYTE

Slug = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9._-]{0,80}\Z")]
Token = Annotated[str, Meta(pattern=r"\A[0-9]{8}T[0-9]{12}-[0-9a-f]{8}\Z")]
RunId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._+-]{0,200}\Z")]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Text = Annotated[str, Meta(max_length=300)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
TABLES = ("cells", "samples", "states")

# What tells machines apart where a claim holds on some of them: names as Linux gives them on x86 and Arm.
FEATURES = (
    *("aes", "pclmulqdq", "sha_ni", "ssse3", "sse4_1", "avx", "avx2", "avx512f", "vaes", "vpclmulqdq"),
    *("gfni", "bmi2", "adx", "asimd", "pmull", "sha1", "sha2", "sha3", "sha512", "sve"),
)


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an atlas. `key` is `run@machine`; `digest` is that of its state: a run that went on has another."""

    run: RunId
    machine: Slug
    digest: Digest
    cpu_model: Text = ""
    cpu_vendor: Text = ""
    microcode: Text = ""
    architecture: Text = ""
    features: tuple[Text, ...] = ()
    cores: Count = 0
    provider: Text = ""
    kernel: Text = ""
    distribution: Text = ""
    started_at: Text = ""
    perbyte_version: Text = ""
    study: Text = ""
    origin: Text = ""
    libraries: tuple[Text, ...] = ()
    cells: Count = 0
    samples: Count = 0
    failures: Count = 0
    complete: bool = False
    measuring_s: float = 0.0
    noise_floor: float | None = None

    @property
    def key(self) -> str:
        """The name of the run in an atlas; two machines may have begun at the same moment."""
        return f"{self.run}@{self.machine}"


class FileRow(msgspec.Struct, frozen=True):
    """A file that a segment brought; `library` is empty for states."""

    table: Literal["cells", "samples", "states"]
    machine: Slug
    library: Annotated[str, Meta(pattern=r"\A([a-z0-9][a-z0-9._-]{0,80})?\Z")]
    rows: Count
    bytes: Count
    sha256: Digest

    def name(self, token: str) -> str:
        """Its path below the root of the atlas."""
        library = f"library={self.library}/" if self.library else ""
        return f"{self.table}/machine={self.machine}/{library}{token}.parquet"


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """What one `add` or `pack` brought; `replaces` names the segments that it stands for."""

    schema: Literal[1]
    token: Token
    runs: Annotated[list[RunRow], Meta(max_length=1_000_000)]
    files: Annotated[list[FileRow], Meta(max_length=1_000_000)]
    replaces: Annotated[list[Token], Meta(max_length=100_000)] = []


class _Top(msgspec.Struct):
    perbyte_atlas: int


@dataclass(slots=True)
class Atlas:
    """An atlas as its index tells it. `runs` by key; `hidden` are the keys that a newer segment has, by segment.

    `problems` names segments that cannot be read and are left out.
    """

    place: AtlasPlace
    segments: list[Segment] = field(default_factory=list)
    runs: dict[str, RunRow] = field(default_factory=dict)
    homes: dict[str, Segment] = field(default_factory=dict)
    hidden: dict[str, set[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def find(self, word: str) -> RunRow:
        """The run that `word` means: a key, or a run's id where one machine alone has it. Raises NoSuchRun."""
        rows = [row for row in self.runs.values() if word == row.key] or [
            row for row in self.runs.values() if word == row.run
        ]
        if len(rows) == 1:
            return rows[0]
        which = f"; it may be {' or '.join(row.key for row in rows[:3])}" if rows else ""
        raise NoSuchRun(f"no run '{word[:200]}' in {self.place.url}{which}", hint="perbyte atlas list --runs")

    def machines(self) -> dict[str, list[RunRow]]:
        """The runs of each machine, by name."""
        rows: dict[str, list[RunRow]] = {}
        for key in sorted(self.runs):
            rows.setdefault(self.runs[key].machine, []).append(self.runs[key])
        return dict(sorted(rows.items()))


def open_atlas(url: str, *, create: bool = False) -> Atlas:
    """Read the index of the atlas at `url`; with `create`, make an empty one where nothing is.

    Raises NoSuchRun where there is none, StoreError where it cannot be read or is of a newer version.
    """
    place = AtlasPlace(url)
    if not place.holds(TOP):
        if not create:
            raise NoSuchRun(
                f"there is no atlas at {url}", hint="perbyte atlas add RUN --atlas PLACE makes one"
            )
        if not place.empty():
            raise UsageError(
                f"{url} is not empty and holds no atlas", hint="choose another place with --atlas"
            )
        place.write(TOP, b'{"perbyte_atlas": %d}\n' % SCHEMA)
    try:
        top = msgspec.json.decode(place.read(TOP, _TOP_LIMIT), type=_Top)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(
            f"{url}/{TOP} is damaged: {error}", hint="this is not an atlas of Perbyte"
        ) from error
    if top.perbyte_atlas != SCHEMA:
        raise StoreError(
            f"the atlas {url} has version {top.perbyte_atlas}, this Perbyte reads version {SCHEMA}",
            hint="update Perbyte and read it with the new version",
        )
    return _arranged(place)


def new_token() -> str:
    """A name for what one `add` or `pack` brings; later ones sort later."""
    now = datetime.datetime.now(datetime.UTC)
    return f"{now:%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"


def write_segment(place: AtlasPlace, segment: Segment) -> None:
    """Make what a segment brought part of the atlas. Raises StoreError."""
    place.write(f"{_INDEX}/{segment.token}.json", msgspec.json.encode(segment) + b"\n")


def remove_segment(place: AtlasPlace, segment: Segment) -> None:
    """Take a segment that is replaced out of the index, then its files."""
    place.remove(f"{_INDEX}/{segment.token}.json")
    for file in segment.files:
        place.remove(file.name(segment.token))


def _arranged(place: AtlasPlace) -> Atlas:
    atlas = Atlas(place)
    decoder = msgspec.json.Decoder(Segment)
    segments: list[Segment] = []
    for name in place.names(_INDEX):
        if not name.endswith(".json"):
            continue
        try:
            segment = decoder.decode(place.read(f"{_INDEX}/{name}", _SEGMENT_LIMIT))
            if f"{segment.token}.json" != name:
                raise ValueError(f"it calls itself {segment.token}")
        except (StoreError, OSError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200]
            atlas.problems.append(f"{_INDEX}/{name[:80]!r} is left out: {reason}")
            continue
        segments.append(segment)
    replaced = {token for segment in segments for token in segment.replaces}
    atlas.segments = [segment for segment in segments if segment.token not in replaced]
    for segment in sorted(atlas.segments, key=lambda segment: segment.token, reverse=True):
        hidden: set[str] = set()
        for run in segment.runs:
            if run.key in atlas.runs:
                hidden.add(run.key)
            else:
                atlas.runs[run.key], atlas.homes[run.key] = run, segment
        atlas.hidden[segment.token] = hidden
    return atlas
