"""Calls as they are written, and objects: what no shape of a function describes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from test_trial_languages import managed, needs
from trial_answers import answers, build

from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.runners import Session
from perbyte.trial.cpp import cpp_wrapper
from perbyte.trial.looking import look_at
from perbyte.trial.objects import object_call
from perbyte.trial.subject import TrialRequest, read_calls
from perbyte.trial.written import last_apart, prototype_of, split_calls, step_of

PYTHON = """import hashlib, hmac
class Hasher:
    def __init__(self, length=32):
        self.parts = []
    def update(self, part):
        self.parts.append(bytes(part))
    def finalize(self):
        return hashlib.sha256(b"".join(self.parts)).digest()
class Tagger(Hasher):
    def __init__(self, key):
        self.parts, self.key = [], key
    def update(self, part):
        self.parts.append(bytes(part))
    def digest(self):
        return hmac.new(self.key, b"".join(self.parts), "sha256").digest()
class Keep:
    kept = {}
    def once(self, data):
        if data not in self.kept:
            self.kept[data] = hashlib.sha256(data * 4).digest() and hashlib.sha256(data).digest()
        return self.kept[data]
keep = Keep()
"""
SCRIPT = """const crypto = require('node:crypto');
class Sum {
  constructor() { this.inner = crypto.createHash('sha256'); }
  update(part) { this.inner.update(part); return this; }
  digest() { return this.inner.digest(); }
}
module.exports = function sums(name) { return new Sum(); };
module.exports.Sum = Sum;
"""
WHOLE = """module.exports = function (part) {
  return require('node:crypto').createHash('sha256').update(part).digest();
};
"""
JAVA = """package own;
import java.security.MessageDigest;
public class Sum {
    private final MessageDigest inner;
    private Sum() throws Exception { inner = MessageDigest.getInstance("SHA-256"); }
    public static Sum begin() throws Exception { return new Sum(); }
    public void update(byte[] part) { inner.update(part); }
    public byte[] digest() { return inner.digest(); }
}
"""
GO = """package own
import ("crypto/sha256"; "hash")
type sum struct { hash.Hash }
func newSum() *sum { return &sum{sha256.New()} }
"""
CRC = "for _ in 0..8 { self.now = self.now >> 1 ^ (if self.now & 1 == 1 { 0xedb88320 } else { 0 }); }"
RUST = f"""pub struct Crc {{ now: u32 }}
impl Crc {{
    pub fn new() -> Self {{ Crc {{ now: !0 }} }}
    pub fn update(&mut self, data: &[u8]) {{ for byte in data {{ self.now ^= *byte as u32; {CRC} }} }}
    pub fn finalize(self) -> u32 {{ !self.now }}
}}
"""
CPP = """#include <cstdint>
#include <vector>
template <uint32_t Polynomial> struct Crc {
	uint32_t now = ~0u;
	Crc &add(const std::vector<uint8_t> &data) {
		for (uint8_t byte : data) {
			now ^= byte;
			for (int i = 0; i < 8; i++) now = now >> 1 ^ (now & 1 ? Polynomial : 0);
		}
		return *this;
	}
	uint32_t value() const { return ~now; }
};
"""


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "text", "algorithm", "function"),
    [
        pytest.param("own.py", PYTHON, "sha-256", "Hasher", marks=needs[".py"], id="python-class"),
        pytest.param("own.py", PYTHON, "hmac-sha-256", "Tagger", marks=needs[".py"], id="python-keyed"),
        pytest.param(
            "own.py",
            PYTHON,
            "hmac-sha-256",
            "h = Tagger(key=key); h.update(data); h.digest()",
            marks=needs[".py"],
            id="python",
        ),
        pytest.param("own.js", WHOLE, "sha-256", "own(data)", marks=needs[".js"], id="javascript-file"),
        pytest.param("own.js", SCRIPT, "sha-256", "Sum", marks=needs[".js"], id="javascript-class"),
        pytest.param(
            "own.js",
            SCRIPT,
            "sha-256",
            "sums('x').update(data).digest()",
            marks=needs[".js"],
            id="javascript",
        ),
        pytest.param(
            "Sum.java", JAVA, "sha-256", "Sum", marks=[needs[".java"], pytest.mark.slow], id="java-class"
        ),
        pytest.param(
            "Sum.java",
            JAVA,
            "sha-256",
            "Sum it = Sum.begin(); it.update(data); it.digest()",
            marks=[needs[".java"], pytest.mark.slow],
            id="java",
        ),
        pytest.param(
            "own.go",
            GO,
            "sha-256",
            "h := newSum(); h.Write(data); h.Sum(nil)",
            marks=[needs[".go"], pytest.mark.slow],
            id="go",
        ),
    ],
)
def test_an_object_of_a_language_with_a_runtime_gives_known_answers(
    tmp_path: Path, name: str, text: str, algorithm: str, function: str
):
    (tmp_path / name).write_text(text, encoding="utf-8")
    outcomes = answers(managed(tmp_path, tmp_path / name, algorithm, function), algorithm)
    assert outcomes
    assert all(right > 0 for right in outcomes.values())


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "text", "function"),
    [
        pytest.param(
            "own.rs",
            RUST,
            "let mut it = Crc::new(); it.update(data); it.finalize()",
            marks=pytest.mark.skipif(not shutil.which("rustc"), reason="no rustc"),
            id="rust",
        ),
        pytest.param("own.cpp", CPP, "Crc<0xedb88320>().add(data).value()", id="cpp"),
        pytest.param("own.hpp", CPP, "Crc<0xedb88320> it; it.add(data); it.value()", id="cpp-header"),
    ],
)
def test_an_object_of_a_compiled_language_gives_known_answers(
    tmp_path: Path, name: str, text: str, function: str
):
    (tmp_path / name).write_text(text, encoding="utf-8")
    spec = build(tmp_path, [tmp_path / name], "crc32", function)
    assert answers(spec, "crc32")["digest", "oneshot/1"] > 0


@pytest.mark.native
@pytest.mark.parametrize(
    "function", ["uint32_t out = crc(data); out", "std::vector<uint8_t> out = four(data); out"]
)
def test_a_call_of_cxx_may_have_an_output_of_its_own(tmp_path: Path, function: str):
    file = tmp_path / "own.cpp"
    file.write_text(
        CPP + "uint32_t crc(std::vector<uint8_t> data) { return Crc<0xedb88320>().add(data).value(); }\n"
        "std::vector<uint8_t> four(std::vector<uint8_t> data) {\n"
        "\tuint32_t n = crc(data);\n"
        "\treturn {uint8_t(n >> 24), uint8_t(n >> 16), uint8_t(n >> 8), uint8_t(n)};\n}\n"
    )
    assert answers(build(tmp_path, [file], "crc32", function), "crc32")["digest", "oneshot/1"] > 0


@pytest.mark.native
def test_a_number_of_cxx_is_a_status_where_the_call_writes_its_output(tmp_path: Path, code: Path):
    file = tmp_path / "own.cpp"
    file.write_text(f'#include "{code / "ascon.c"}"\n')
    rest = "data, data.size(), aad, aad.size(),"
    texts = (
        f"seal=unsigned long long n; crypto_aead_encrypt(out, &n, {rest} nullptr, nonce, key)",
        f"open=unsigned long long n; crypto_aead_decrypt(out, &n, nullptr, {rest} nonce, key)",
    )
    spec = build(tmp_path, [file], "ascon-aead128", *texts)
    assert all(right > 0 for right in answers(spec, "ascon-aead128").values())
    with Session(spec) as session:
        handle = session.prepare("ascon-aead128", "open", "rekey/1", 100, seed=7, offset=0)
        assert session.forgery(handle).passed


def test_a_number_of_cxx_without_an_output_is_a_status(tmp_path: Path):
    text = cpp_wrapper([("own", prototype_of("verify", "int(data.size()) - 7", Path("own.cpp"))[0])])
    text = text.replace(f'#include "{Path("own.cpp")}"\n', "")
    (tmp_path / "own.cpp").write_text(
        text + 'int main() { return own("12345678", 8) != 1 || own("1234567", 7); }\n'
    )
    subprocess.run(["g++", "-o", str(tmp_path / "own"), str(tmp_path / "own.cpp")], check=True)
    subprocess.run([str(tmp_path / "own")], check=True)


@pytest.mark.native
@needs[".py"]
def test_none_of_a_written_call_is_a_refusal(tmp_path: Path):
    (tmp_path / "own.py").write_text(
        "from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305 as Inner\n"
        "class Box:\n"
        "    def __init__(self, key): self.inner = Inner(key)\n"
        "    def seal(self, nonce, data, aad): return self.inner.encrypt(nonce, data, aad)\n"
        "    def open(self, nonce, data, aad):\n"
        "        try: return self.inner.decrypt(nonce, data, aad)\n"
        "        except Exception: return None\n"
    )
    texts = "seal=Box(key).seal(nonce, data, aad),open=Box(key).open(nonce, data, aad)"
    spec = managed(tmp_path, tmp_path / "own.py", "chacha20-poly1305", texts)
    with Session(spec) as session:
        handle = session.prepare("chacha20-poly1305", "open", "message/1", 64, seed=7, offset=0)
        assert session.forgery(handle).passed


KEEPS = """const crypto = require('node:crypto');
const kept = new Map();
class Sum {
  update(part) { this.part = Buffer.from(part); return this; }
  digest() {
    const name = this.part.toString('latin1');
    for (let i = 0; i < 8 && (i || !kept.has(name)); i++)
      kept.set(name, crypto.createHash('sha256').update(this.part).digest());
    return kept.get(name);
  }
}
module.exports = { Sum };
"""


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "text", "function"),
    [
        pytest.param("own.py", PYTHON, "keep.once(data)", marks=needs[".py"], id="python"),
        pytest.param("own.py", PYTHON, "it = keep;it.once(data)", marks=needs[".py"], id="python-steps"),
        pytest.param("own.js", KEEPS, "Sum", marks=needs[".js"], id="javascript-class"),
        pytest.param("own.js", KEEPS, "new Sum().update(data).digest()", marks=needs[".js"], id="javascript"),
    ],
)
def test_an_object_that_remembers_is_refused(tmp_path: Path, name: str, text: str, function: str):
    (tmp_path / name).write_text(text, encoding="utf-8")
    spec = managed(tmp_path, tmp_path / name, "sha-256", function)
    fault = look_at(spec, load().find("sha-256"))
    assert fault
    assert (fault.kind, "remembers" in fault.message) == ("audit", True)


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "text", "function"),
    [
        pytest.param(
            "own.py", PYTHON, "Hasher(1).finalize()[:31] + data[:0]", marks=needs[".py"], id="python"
        ),
        pytest.param(
            "own.js",
            SCRIPT.replace("this.inner.digest()", "this.inner.digest().subarray(1)"),
            "Sum",
            marks=needs[".js"],
            id="javascript-class",
        ),
    ],
)
def test_a_call_is_named_as_it_was_asked_for(tmp_path: Path, name: str, text: str, function: str):
    (tmp_path / name).write_text(text, encoding="utf-8")
    fault = look_at(managed(tmp_path, tmp_path / name, "sha-256", function), load().find("sha-256"))
    assert fault
    assert fault.message == f"{function} returned 31 bytes and not 32"


def test_a_call_is_split_at_commas_outside_of_brackets():
    text = "seal=C(key).e(nonce, data, 'a,b'), open=D([1, 2])"
    assert split_calls(text) == ["seal=C(key).e(nonce, data, 'a,b')", "open=D([1, 2])"]
    assert split_calls("seal=c, t = f(data); g(c, t),open=h(data)") == [
        "seal=c, t = f(data); g(c, t)",
        "open=h(data)",
    ]
    assert split_calls("aes_init, aes_ctr") == ["aes_init", "aes_ctr"]
    assert step_of("seal=C(key)", ()) == ("seal", "C(key)")
    assert step_of("h = C(key); h.f(data)", ()) == ("", "h = C(key); h.f(data)")
    assert step_of("free=my_free", ("free",)) == ("free", "my_free")
    assert last_apart("a(); b()") == ("a(); ", "b()")
    assert last_apart("b()") == ("", "b()")


def test_a_written_call_takes_the_names_that_it_uses():
    prototype, roles = prototype_of("mac", "C(key=key, n=x.data).tag(data)", Path("own.py"))
    assert roles == ("key", "in")
    assert prototype.has_runtime
    assert prototype_of("digest", "f(data)", Path("own.rs"))[1] == ("in", "out")
    assert prototype_of("decapsulate", "f(private, data)", Path("own.py"))[1] == ("secret-key", "ciphertext")


@pytest.mark.parametrize(
    ("name", "function", "words"),
    [("own.c", "f(in, n)", "a function of C is named"), ("own.py", "f(x)", "it takes no data")],
)
def test_what_cannot_be_a_call_is_refused(tmp_path: Path, name: str, function: str, words: str):
    (tmp_path / name).write_text("x = 1\n")
    with pytest.raises(UsageError, match=words):
        read_calls(TrialRequest((tmp_path / name,), load().find("sha-256"), (function,)))


def test_members_tell_how_an_object_is_asked():
    assert (
        object_call("python", "H()", ["finalize", "update", "x"])
        == "made = H(); made.update(data); made.finalize()"
    )
    assert object_call("java", "new H()", ["write", "doFinal"]).endswith("made.doFinal()")
    assert object_call("java", "new H()", ["update"]) == ""


def test_a_file_called_like_a_library_has_a_name_of_its_own(tmp_path: Path):
    algorithm = load().find("sha-256")
    assert TrialRequest((tmp_path / "openssl.c",), algorithm).title == "openssl-mine"
    assert TrialRequest((tmp_path / "openssl.c",), algorithm, name="mine").title == "mine"
    assert TrialRequest((tmp_path / "hash.c",), algorithm).title == "hash"
