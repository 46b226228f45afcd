// Functions of Zig as a user has them: public, or exported.
const crypto = @import("std").crypto;
const Gcm = crypto.aead.aes_gcm.Aes128Gcm;

pub fn digest(data: []const u8) [32]u8 {
    var out: [32]u8 = undefined;
    crypto.hash.sha2.Sha256.hash(data, &out, .{});
    return out;
}

export fn digestInto(out: [*]u8, data: [*]const u8, len: usize) void {
    crypto.hash.sha2.Sha256.hash(data[0..len], out[0..32], .{});
}

pub fn tag(out: *[32]u8, key: []const u8, message: []const u8) void {
    crypto.auth.hmac.sha2.HmacSha256.create(out, message, key);
}

pub fn seal(out: [*]u8, message: []const u8, aad: []const u8, nonce: [12]u8, key: *const [16]u8) void {
    Gcm.encrypt(out[0..message.len], out[message.len..][0..16], message, aad, nonce, key.*);
}

pub fn unseal(out: [*]u8, ciphertext: []const u8, aad: []const u8, nonce: [12]u8, key: *const [16]u8) !void {
    const size = ciphertext.len - 16;
    try Gcm.decrypt(out[0..size], ciphertext[0..size], ciphertext[size..][0..16].*, aad, nonce, key.*);
}

fn hidden(data: []const u8) [32]u8 {
    return digest(data);
}
