//! Zig's std.crypto: the rows, and what the program says of itself.

const builtin = @import("builtin");
const std = @import("std");
const families = @import("families.zig");
const public = @import("public.zig");
const layout = @import("layout.zig");

const crypto = std.crypto;
const Row = layout.Row;
const sha2 = crypto.hash.sha2;
const sha3 = crypto.hash.sha3;
const Hmac = crypto.auth.hmac.Hmac;
const curve = crypto.ecc;

fn pbkdf2(comptime rounds: u32) fn ([]u8, []const u8, []const u8) anyerror!void {
    return struct {
        fn derive(out: []u8, password: []const u8, salt: []const u8) anyerror!void {
            try crypto.pwhash.pbkdf2(out, password, salt, rounds, Hmac(sha2.Sha256));
        }
    }.derive;
}

fn scrypt(out: []u8, password: []const u8, salt: []const u8) anyerror!void {
    try crypto.pwhash.scrypt.kdf(std.heap.c_allocator, out, password, salt, .{ .ln = 14, .r = 8, .p = 1 });
}

const rows = [_]Row{
    families.counter("aes-128-ctr", crypto.core.aes.Aes128),
    families.counter("aes-256-ctr", crypto.core.aes.Aes256),
    families.stream("chacha20", crypto.stream.chacha.ChaCha20IETF),
    families.aead("aes-128-gcm", crypto.aead.aes_gcm.Aes128Gcm, false),
    families.aead("aes-256-gcm", crypto.aead.aes_gcm.Aes256Gcm, false),
    families.aead("aes-128-gcm-siv", crypto.aead.aes_gcm_siv.Aes128GcmSiv, false),
    families.aead("aes-256-gcm-siv", crypto.aead.aes_gcm_siv.Aes256GcmSiv, false),
    families.aead("aes-128-ocb", crypto.aead.aes_ocb.Aes128Ocb, false),
    families.aead("aes-256-ocb", crypto.aead.aes_ocb.Aes256Ocb, false),
    families.aead("aes-128-siv", crypto.aead.aes_siv.Aes128Siv, true),
    families.aead("aes-256-siv", crypto.aead.aes_siv.Aes256Siv, true),
    families.aead("chacha20-poly1305", crypto.aead.chacha_poly.ChaCha20Poly1305, false),
    families.aead("xchacha20-poly1305", crypto.aead.chacha_poly.XChaCha20Poly1305, false),
    families.aead("aegis-128l", crypto.aead.aegis.Aegis128L_256, false),
    families.aead("aegis-256", crypto.aead.aegis.Aegis256_256, false),
    families.aead("aegis-128x2", crypto.aead.aegis.Aegis128X2_256, false),
    families.aead("aegis-128x4", crypto.aead.aegis.Aegis128X4_256, false),
    families.aead("aegis-256x2", crypto.aead.aegis.Aegis256X2_256, false),
    families.aead("aegis-256x4", crypto.aead.aegis.Aegis256X4_256, false),
    families.hash("md5", crypto.hash.Md5, 16, .{}),
    families.hash("sha-1", crypto.hash.Sha1, 20, .{}),
    families.hash("sha-224", sha2.Sha224, 28, .{}),
    families.hash("sha-256", sha2.Sha256, 32, .{}),
    families.hash("sha-384", sha2.Sha384, 48, .{}),
    families.hash("sha-512", sha2.Sha512, 64, .{}),
    families.hash("sha-512-256", sha2.Sha512_256, 32, .{}),
    families.hash("sha3-224", sha3.Sha3_224, 28, .{}),
    families.hash("sha3-256", sha3.Sha3_256, 32, .{}),
    families.hash("sha3-384", sha3.Sha3_384, 48, .{}),
    families.hash("sha3-512", sha3.Sha3_512, 64, .{}),
    families.hash("blake2b-256", crypto.hash.blake2.Blake2b256, 32, .{}),
    families.hash("blake2b-512", crypto.hash.blake2.Blake2b512, 64, .{}),
    families.hash("blake2s-256", crypto.hash.blake2.Blake2s256, 32, .{}),
    families.hash("blake3", crypto.hash.Blake3, 32, .{}),
    families.hash("kt128", sha3.KT128, 32, .{}),
    families.hash("turboshake128", sha3.TurboShake128(null), 32, .{}),
    families.hash("turboshake256", sha3.TurboShake256(null), 64, .{}),
    families.hash("ascon-hash256", crypto.hash.ascon.AsconHash256, 32, .{}),
    families.xof("shake128", sha3.Shake128, 32, 32),
    families.xof("shake256", sha3.Shake256, 32, 64),
    families.mac("hmac-sha-1", Hmac(crypto.hash.Sha1), 20, 20, false),
    families.mac("hmac-sha-256", Hmac(sha2.Sha256), 32, 32, false),
    families.mac("hmac-sha-384", Hmac(sha2.Sha384), 48, 48, false),
    families.mac("hmac-sha-512", Hmac(sha2.Sha512), 64, 64, false),
    families.mac("siphash-2-4", crypto.auth.siphash.SipHash64(2, 4), 16, 8, false),
    families.mac("poly1305", crypto.onetimeauth.Poly1305, 32, 16, true),
    families.hkdf("hkdf-sha-256", crypto.kdf.hkdf.HkdfSha256),
    families.hkdf("hkdf-sha-512", crypto.kdf.hkdf.HkdfSha512),
    families.password("pbkdf2-sha-256-4096", "pwhash.pbkdf2", 16, 32, pbkdf2(4096)),
    families.password("pbkdf2-sha-256-600000", "pwhash.pbkdf2", 16, 32, pbkdf2(600000)),
    families.password("scrypt-16384-8-1", "pwhash.scrypt.kdf", 16, 64, scrypt),
    public.agreement("x25519", public.X25519),
    public.agreement("ecdh-p256", public.Ecdh(curve.P256, 32)),
    public.agreement("ecdh-p384", public.Ecdh(curve.P384, 48)),
    public.agreement("ecdh-secp256k1", public.Ecdh(curve.Secp256k1, 32)),
    public.kem("ml-kem-512", crypto.kem.ml_kem.MLKem512),
    public.kem("ml-kem-768", crypto.kem.ml_kem.MLKem768),
    public.kem("ml-kem-1024", crypto.kem.ml_kem.MLKem1024),
    public.signature("ed25519", public.Ed25519),
    public.signature("ecdsa-p256", public.Ecdsa(curve.P256, sha2.Sha256, 32)),
    public.signature("ecdsa-p384", public.Ecdsa(curve.P384, sha2.Sha384, 48)),
    public.signature("ecdsa-secp256k1", public.Ecdsa(curve.Secp256k1, sha2.Sha256, 32)),
    public.signature("ml-dsa-44", public.MlDsa(crypto.sign.mldsa.MLDSA44)),
    public.signature("ml-dsa-65", public.MlDsa(crypto.sign.mldsa.MLDSA65)),
    public.signature("ml-dsa-87", public.MlDsa(crypto.sign.mldsa.MLDSA87)),
    families.chain(),
    .{},
};

/// What the library was compiled for, of what its primitives ask the compiler about.
const features = features: {
    if (builtin.cpu.arch != .x86_64) break :features builtin.cpu.model.name;
    var told: [:0]const u8 = builtin.cpu.model.name ++ "";
    for (.{ .aes, .vaes, .pclmul, .sha, .avx2, .avx512f }, .{ "aes", "vaes", "pclmul", "sha", "avx2", "avx512f" }) |feature, name| {
        if (builtin.cpu.has(.x86, feature)) told = told ++ " " ++ name;
    }
    break :features told;
};

export const perbyte_zig_tables = [_]?*const Row{ &rows[0], null };
export const perbyte_zig_layout = layout.described;
export const perbyte_zig_features: [*:0]const u8 = features;
export const perbyte_zig_version: [*:0]const u8 = builtin.zig_version_string;
