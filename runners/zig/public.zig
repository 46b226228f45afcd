//! Public-key operations: key agreement, KEMs, signatures. Pairs are made beforehand; random bytes are part of the call.

const std = @import("std");
const layout = @import("layout.zig");
const families = @import("families.zig");

const Case = layout.Case;
const Family = layout.Family;
const Row = layout.Row;
const Variant = layout.Variant;
const End = Variant{};
const memory = std.heap.c_allocator;

fn stateOf(comptime T: type, c: *Case) *T {
    return @ptrCast(@alignCast(c.ctx.?));
}

fn keep(comptime T: type, c: *Case, made: anyerror!T) c_int {
    const value = made catch return c.fail("the library refused the key");
    const state = memory.create(T) catch return c.fail("out of memory");
    state.* = value;
    c.ctx = state;
    return 0;
}

fn Closing(comptime T: type) type {
    return struct {
        fn close(c: *Case) callconv(.c) void {
            if (c.ctx != null) memory.destroy(stateOf(T, c));
            c.ctx = null;
        }
    };
}

/// `n` calls of `call(case, turn)`, which says whether it worked.
fn Loop(comptime call: fn (*Case, usize) anyerror!void) type {
    return struct {
        fn run(c: *Case, n: u64) callconv(.c) void {
            var bad: u64 = 0;
            var turn: u64 = 0;
            while (turn < n) : (turn += 1) {
                call(c, @intCast(turn % layout.ring)) catch {
                    bad += 1;
                };
                std.mem.doNotOptimizeAway(c.out);
            }
            c.failures += bad;
        }
    };
}

fn variant(comptime operation: [:0]const u8, comptime calls: [:0]const u8, comptime call: fn (*Case, usize) anyerror!void, comptime show: ?layout.Untimed) Variant {
    return .{ .operation = operation, .contract = "pk/1", .calls = calls, .loop = Loop(call).run, .show = show };
}

/// Key agreement by `A.derive(private, public)`; `A.Pair.of(private)` gives the public key as bytes.
pub fn agreement(comptime id: [:0]const u8, comptime A: type) Row {
    const State = struct { own: [A.length]u8, peer: [A.public_length]u8, made: [A.length]u8 };
    const Of = struct {
        fn prepare(c: *Case) !State {
            var state: State = undefined;
            state.own = c.key[0].?[0..A.length].*;
            if (c.given == 0) {
                state.peer = try A.public(c.nonce[0].?[0..A.length].*);
            } else {
                if (c.in_len != A.public_length) return error.Length;
                state.peer = c.in.?[0..A.public_length].*;
                _ = try A.derive(state.own, state.peer);
            }
            return state;
        }
        fn open(c: *Case) callconv(.c) c_int {
            c.out_len = A.length;
            return keep(State, c, prepare(c));
        }
        fn derive(c: *Case, _: usize) !void {
            const state = stateOf(State, c);
            c.out[0..A.length].* = try A.derive(state.own, state.peer);
        }
        const variants = [_]Variant{ variant("derive", A.calls, derive, null), End };
        const family = Family{ .open = open, .close = Closing(State).close, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = A.length, .nonce = A.length, .output = A.length };
}

pub const X25519 = struct {
    const K = std.crypto.dh.X25519;
    pub const length = 32;
    pub const public_length = 32;
    pub const calls = "X25519.scalarmult";
    pub fn public(own: [32]u8) ![32]u8 {
        return K.recoverPublicKey(own);
    }
    pub fn derive(own: [32]u8, peer: [32]u8) ![32]u8 {
        return K.scalarmult(own, peer);
    }
};

/// ECDH on a curve of std.crypto.ecc: the library has points, and no function of that name.
pub fn Ecdh(comptime C: type, comptime bytes: usize) type {
    return struct {
        pub const length = bytes;
        pub const public_length = 2 * bytes + 1;
        pub const calls = "fromSec1, mul, affineCoordinates";
        pub fn public(own: [bytes]u8) ![public_length]u8 {
            return (try C.basePoint.mul(own, .big)).toUncompressedSec1();
        }
        pub fn derive(own: [bytes]u8, peer: [public_length]u8) ![bytes]u8 {
            const point = try C.fromSec1(&peer);
            return (try point.mul(own, .big)).affineCoordinates().x.toBytes(.big);
        }
    };
}

/// A KEM whose pairs are made of a seed.
pub fn kem(comptime id: [:0]const u8, comptime K: type) Row {
    const Pair = K.KeyPair;
    const sealed = K.ciphertext_length;
    const State = struct { pair: Pair, made: Pair };
    const Of = struct {
        fn prepare(c: *Case) !State {
            const pair = try Pair.generateDeterministic(c.key[0].?[0..K.seed_length].*);
            return .{ .pair = pair, .made = pair };
        }
        fn open(c: *Case) callconv(.c) c_int {
            c.out_len = if (c.inverse != 0) K.shared_length else sealed + K.shared_length;
            return keep(State, c, prepare(c));
        }
        fn encapsulate(c: *Case, _: usize) !void {
            const made = stateOf(State, c).pair.public_key.encaps(families.io());
            c.out[0..sealed].* = made.ciphertext;
            c.out[sealed..][0..K.shared_length].* = made.shared_secret;
        }
        fn decapsulate(c: *Case, _: usize) !void {
            const secret = try stateOf(State, c).pair.secret_key.decaps(c.in.?[0..sealed]);
            c.out[0..K.shared_length].* = secret;
        }
        fn keygen(c: *Case, _: usize) !void {
            stateOf(State, c).made = Pair.generate(families.io());
        }
        fn show(c: *Case) callconv(.c) void {
            const state = stateOf(State, c);
            const sent = state.made.public_key.encaps(families.io());
            const got = state.made.secret_key.decaps(&sent.ciphertext) catch sent.shared_secret;
            const public = state.made.public_key.toBytes();
            c.failures += @intFromBool(!std.mem.eql(u8, &got, &sent.shared_secret));
            @memcpy(c.out[0..public.len], &public);
            c.out_len = public.len;
        }
        const variants = [_]Variant{
            variant("encapsulate", "PublicKey.encaps (with its random draw)", encapsulate, null),
            variant("decapsulate", "SecretKey.decaps", decapsulate, null),
            variant("keygen", "KeyPair.generate", keygen, show),
            End,
        };
        const family = Family{ .open = open, .close = Closing(State).close, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = K.seed_length, .output = K.shared_length };
}

/// What tells the signatures apart: `pair(private)`, `sign`, `verify`, `public`, lengths.
pub fn signature(comptime id: [:0]const u8, comptime S: type) Row {
    const State = struct { pair: S.Pair, made: S.Pair };
    const Of = struct {
        fn prepare(c: *Case) !State {
            const pair = try S.pair(c.key[0].?[0..S.key].*);
            return .{ .pair = pair, .made = pair };
        }
        fn open(c: *Case) callconv(.c) c_int {
            c.out_len = if (c.inverse != 0) 0 else S.length;
            c.turns = if (S.rejects) layout.ring else 0;
            return keep(State, c, prepare(c));
        }
        fn sign(c: *Case, turn: usize) !void {
            const message = if (S.digest) c.data() else c.message[turn].?[0..c.size];
            c.out[0..S.length].* = try S.sign(&stateOf(State, c).pair, message);
        }
        fn verify(c: *Case, _: usize) !void {
            try S.verify(&stateOf(State, c).pair, c.data(), c.in.?[c.size..][0..S.length]);
        }
        fn keygen(c: *Case, _: usize) !void {
            stateOf(State, c).made = S.Pair.generate(families.io());
        }
        fn works(c: *Case) !void {
            const made = &stateOf(State, c).made;
            const message = c.out[0..S.longest];
            @memset(message, 7);
            const signed = try S.sign(made, message);
            try S.verify(made, message, &signed);
            const public = S.public(made);
            @memcpy(c.out[0..public.len], &public);
            c.out_len = public.len;
        }
        fn show(c: *Case) callconv(.c) void {
            works(c) catch {
                c.failures += 1;
            };
        }
        const variants = [_]Variant{
            variant("sign", S.sign_calls, sign, null),
            variant("verify", S.verify_calls, verify, null),
            variant("keygen", "KeyPair.generate", keygen, show),
            End,
        };
        const family = Family{ .open = open, .close = Closing(State).close, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = S.key, .output = S.length };
}

pub const Ed25519 = struct {
    const K = std.crypto.sign.Ed25519;
    pub const Pair = K.KeyPair;
    pub const key = 32;
    pub const length = 64;
    pub const digest = false;
    pub const longest = 32;
    pub const rejects = false;
    pub const sign_calls = "KeyPair.sign (without noise)";
    pub const verify_calls = "Signature.verify";
    pub fn pair(seed: [32]u8) !Pair {
        return Pair.generateDeterministic(seed);
    }
    pub fn sign(of: *const Pair, message: []const u8) ![64]u8 {
        return (try of.sign(message, null)).toBytes();
    }
    pub fn verify(of: *const Pair, message: []const u8, signed: *const [64]u8) !void {
        try K.Signature.fromBytes(signed.*).verify(message, of.public_key);
    }
    pub fn public(of: *const Pair) [32]u8 {
        return of.public_key.toBytes();
    }
};

/// ECDSA over a digest of any length: as the number that it is, which has the leftmost bytes of a longer one. `H` gives the
/// length that the library wants.
pub fn Ecdsa(comptime C: type, comptime H: type, comptime bytes: usize) type {
    return struct {
        const K = std.crypto.sign.ecdsa.Ecdsa(C, H);
        inline fn number(digest_of: []const u8) [bytes]u8 {
            var padded: [bytes]u8 = @splat(0);
            const taken = @min(bytes, digest_of.len);
            @memcpy(padded[bytes - taken ..], digest_of[0..taken]);
            return padded;
        }
        pub const Pair = K.KeyPair;
        pub const key = bytes;
        pub const length = 2 * bytes;
        pub const digest = true;
        pub const longest = 32;
        pub const rejects = false;
        pub const sign_calls = "KeyPair.signPrehashed (nonce of RFC 6979)";
        pub const verify_calls = "Signature.fromBytes, verifyPrehashed";
        pub fn pair(private: [bytes]u8) !Pair {
            return Pair.fromSecretKey(try K.SecretKey.fromBytes(private));
        }
        pub fn sign(of: *const Pair, message: []const u8) ![length]u8 {
            return (try of.signPrehashed(number(message), null)).toBytes();
        }
        pub fn verify(of: *const Pair, message: []const u8, signed: *const [length]u8) !void {
            try K.Signature.fromBytes(signed.*).verifyPrehashed(number(message), of.public_key);
        }
        pub fn public(of: *const Pair) [2 * bytes + 1]u8 {
            return of.public_key.toUncompressedSec1();
        }
    };
}

/// ML-DSA, hedged: the noise is drawn in each call.
pub fn MlDsa(comptime K: type) type {
    return struct {
        pub const Pair = K.KeyPair;
        pub const key = 32;
        pub const length = K.Signature.encoded_length;
        pub const digest = false;
        pub const longest = 32;
        pub const rejects = true;
        pub const sign_calls = "KeyPair.sign (hedged, with its random draw)";
        pub const verify_calls = "Signature.fromBytes, verify";
        pub fn pair(seed: [32]u8) !Pair {
            return Pair.generateDeterministic(seed);
        }
        pub fn sign(of: *const Pair, message: []const u8) ![length]u8 {
            var noise: [32]u8 = undefined;
            families.io().random(&noise);
            return (try of.sign(message, noise)).toBytes();
        }
        pub fn verify(of: *const Pair, message: []const u8, signed: *const [length]u8) !void {
            try (try K.Signature.fromBytes(signed.*)).verify(message, of.public_key);
        }
        pub fn public(of: *const Pair) [K.PublicKey.encoded_length]u8 {
            return of.public_key.toBytes();
        }
    };
}
