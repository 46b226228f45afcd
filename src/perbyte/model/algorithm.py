"""What the catalogue knows: algorithms, contracts and known answers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One algorithm, mode included: `aes-128-cbc` and `aes-128-ctr` are two.

    `kind` is one of: block-cipher, stream-cipher, aead, hash, mac, signature, kem, probe (loops of known
    cost that the harness measures itself by). Sizes are bytes; 0 means not applicable. `data_multiple_bytes`
    is the granularity of the data (16 for AES in ECB or CBC without padding, 1 for CTR). `tag_bytes` is the
    length of the tag, digest or MAC. `accelerated_by` names CPU features that change its speed ("aes",
    "sha", "clmul"): a CPU tier that changes nothing there gets a warning. `note` says which variant is meant
    where a name alone leaves it open.
    """

    id: str
    name: str
    kind: str
    family: str
    mode: str = ""
    block_bytes: int = 0
    key_bytes: int = 0
    nonce_bytes: int = 0
    tag_bytes: int = 0
    data_multiple_bytes: int = 1
    year: int = 0
    origin: str = ""
    operations: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    accelerated_by: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Contract:
    """What one timed call is.

    `id` carries the version (`stream/1`); rows of different ids never rank together.
    """

    id: str
    title: str
    meaning: str
    kinds: tuple[str, ...]
    default_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """One known answer of a standard. All byte strings are lower-case hex; absent ones are empty.

    For `encrypt` and `seal`: `output` is the ciphertext (for AEADs followed by the tag). For hashes and MACs:
    the digest. `source` names the document and place the vector was taken from.
    """

    algorithm: str
    operation: str
    source: str
    input: str = ""
    output: str = ""
    key: str = ""
    nonce: str = ""
    aad: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
