//! What is timed, generic over the types of std.crypto, so that the compiler inlines them as into a program of a user.
//! Functions of this library take the key with every message; a contract with a key that is set gives the same key each time.

const std = @import("std");
const layout = @import("layout.zig");

const Case = layout.Case;
const Family = layout.Family;
const Row = layout.Row;
const Variant = layout.Variant;

const memory = std.heap.c_allocator;

var threaded: std.Io.Threaded = .init_single_threaded;

/// Where the library draws its random bytes: a generator of its own, seeded by the system.
pub fn io() std.Io {
    return threaded.io();
}

const End = Variant{};

/// `n` calls; what a call writes stays opaque to the optimiser, and so does what it reads.
inline fn repeat(c: *Case, n: u64, given: anytype, comptime call: anytype) void {
    var bad: u64 = 0;
    var turn: u64 = 0;
    while (turn < n) : (turn += 1) {
        bad += @intFromBool(!call(given, @as(usize, @intCast(turn % layout.ring))));
        std.mem.doNotOptimizeAway(c.out);
    }
    c.failures += bad;
}

fn openNothing(c: *Case) callconv(.c) c_int {
    if (c.row.output != 0) c.out_len = c.row.output;
    return 0;
}

fn closeNothing(_: *Case) callconv(.c) void {}

/// The state of type `T` behind the case's pointer.
fn Kept(comptime T: type) type {
    return struct {
        fn of(c: *Case) *T {
            return @ptrCast(@alignCast(c.ctx.?));
        }

        fn keep(c: *Case, made: anyerror!T) c_int {
            const value = made catch return c.fail("the library refused the key");
            const state = memory.create(T) catch return c.fail("out of memory");
            state.* = value;
            c.ctx = state;
            return 0;
        }

        fn close(c: *Case) callconv(.c) void {
            if (c.ctx != null) memory.destroy(of(c));
            c.ctx = null;
        }
    };
}

fn array(comptime length: usize, from: ?[*]const u8) *const [length]u8 {
    return from.?[0..length];
}

/// A hash with `H.hash` and `init`, `update`, `final`, and `length` bytes of output.
pub fn hash(comptime id: [:0]const u8, comptime H: type, comptime length: u16, comptime options: H.Options) Row {
    const Of = struct {
        fn one(c: *Case, _: usize) bool {
            const made: anyerror!void = H.hash(c.data(), c.out[0..length], options);
            made catch return false;
            return true;
        }
        fn oneshot(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, one);
        }
        fn open(c: *Case) callconv(.c) c_int {
            c.out_len = length;
            return Kept(H).keep(c, H.init(options));
        }
        fn begin(c: *Case) callconv(.c) void {
            Kept(H).of(c).* = H.init(options);
        }
        fn next(c: *Case, _: usize) bool {
            Kept(H).of(c).update(c.data());
            return true;
        }
        fn streaming(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, next);
        }
        fn show(c: *Case) callconv(.c) void {
            var copy = Kept(H).of(c).*;
            copy.final(c.out[0..length]);
        }
        const variants = [_]Variant{
            .{ .operation = "digest", .contract = "oneshot/1", .calls = "hash", .loop = oneshot },
            .{ .operation = "digest", .contract = "stream/1", .calls = "update", .begin = begin, .loop = streaming, .show = show },
            End,
        };
        const family = Family{ .open = open, .close = Kept(H).close, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .output = length };
}

/// SHAKE, which is squeezed as well, from an input of `nonce` bytes.
pub fn xof(comptime id: [:0]const u8, comptime X: type, comptime nonce: u16, comptime length: u16) Row {
    const Of = struct {
        fn oneDigest(c: *Case, _: usize) bool {
            X.hash(c.data(), c.out[0..length], .{});
            return true;
        }
        fn digest(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, oneDigest);
        }
        fn begin(c: *Case) callconv(.c) void {
            c.out_len = c.size;
        }
        fn oneSqueeze(c: *Case, turn: usize) bool {
            var state = X.init(.{});
            state.update(array(nonce, c.nonce[turn]));
            state.squeeze(c.out[0..c.size]);
            return true;
        }
        fn squeeze(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, oneSqueeze);
        }
        const variants = [_]Variant{
            .{ .operation = "digest", .contract = "oneshot/1", .calls = "hash", .loop = digest },
            .{ .operation = "squeeze", .contract = "expand/1", .calls = "init, update, squeeze", .begin = begin, .loop = squeeze },
            End,
        };
        const family = Family{ .open = openNothing, .close = closeNothing, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .nonce = nonce, .output = length };
}

/// A MAC with `init` of a key, `update`, `final`. Under `message/1` each message begins with a copy of the keyed state.
pub fn mac(comptime id: [:0]const u8, comptime M: type, comptime key: u16, comptime length: u16, comptime once: bool) Row {
    const Of = struct {
        fn open(c: *Case) callconv(.c) c_int {
            c.out_len = length;
            return Kept(M).keep(c, M.init(array(key, c.key[0])));
        }
        inline fn finish(c: *Case, keyed: M) bool {
            var state = keyed;
            state.update(c.data());
            state.final(c.out[0..length]);
            return true;
        }
        fn one(c: *Case, _: usize) bool {
            return finish(c, Kept(M).of(c).*);
        }
        fn oneAfresh(c: *Case, turn: usize) bool {
            return finish(c, M.init(array(key, c.key[turn])));
        }
        fn message(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, one);
        }
        fn rekey(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, oneAfresh);
        }
        const afresh = Variant{ .operation = "mac", .contract = "rekey/1", .calls = "init, update, final", .loop = rekey };
        const set = Variant{ .operation = "mac", .contract = "message/1", .calls = "copy of the state, update, final", .loop = message };
        const variants = if (once) [_]Variant{ afresh, End } else [_]Variant{ set, afresh, End };
        const family = Family{ .open = open, .close = Kept(M).close, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = key, .output = length };
}

fn bothWays(comptime message: layout.Run, comptime rekey: layout.Run, comptime calls: [:0]const u8, comptime rekeyed: [:0]const u8) [5]Variant {
    return .{
        .{ .operation = "encrypt", .contract = "message/1", .calls = calls, .loop = message },
        .{ .operation = "decrypt", .contract = "message/1", .calls = calls, .loop = message },
        .{ .operation = "encrypt", .contract = "rekey/1", .calls = rekeyed, .loop = rekey },
        .{ .operation = "decrypt", .contract = "rekey/1", .calls = rekeyed, .loop = rekey },
        End,
    };
}

/// A stream cipher with `xor`, counting from 0.
pub fn stream(comptime id: [:0]const u8, comptime S: type) Row {
    const Of = struct {
        fn one(c: *Case, turn: usize) bool {
            S.xor(c.out[0..c.size], c.data(), 0, array(S.key_length, c.key[0]).*, array(S.nonce_length, c.nonce[turn]).*);
            return true;
        }
        fn oneAfresh(c: *Case, turn: usize) bool {
            S.xor(c.out[0..c.size], c.data(), 0, array(S.key_length, c.key[turn]).*, array(S.nonce_length, c.nonce[turn]).*);
            return true;
        }
        fn message(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, one);
        }
        fn rekey(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, oneAfresh);
        }
        const variants = bothWays(message, rekey, "xor", "xor");
        const family = Family{ .open = openNothing, .close = closeNothing, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = S.key_length, .nonce = S.nonce_length };
}

/// A block cipher in counter mode.
pub fn counter(comptime id: [:0]const u8, comptime C: type) Row {
    const bytes = C.key_bits / 8;
    const Schedule = @TypeOf(C.initEnc(@as([bytes]u8, undefined)));
    const Of = struct {
        fn open(c: *Case) callconv(.c) c_int {
            return Kept(Schedule).keep(c, C.initEnc(array(bytes, c.key[0]).*));
        }
        inline fn crypt(c: *Case, schedule: Schedule, turn: usize) bool {
            std.crypto.core.modes.ctr(Schedule, schedule, c.out[0..c.size], c.data(), array(16, c.nonce[turn]).*, .big);
            return true;
        }
        fn one(c: *Case, turn: usize) bool {
            return crypt(c, Kept(Schedule).of(c).*, turn);
        }
        fn oneAfresh(c: *Case, turn: usize) bool {
            return crypt(c, C.initEnc(array(bytes, c.key[turn]).*), turn);
        }
        fn message(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, one);
        }
        fn rekey(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, oneAfresh);
        }
        const variants = bothWays(message, rekey, "modes.ctr", "initEnc, modes.ctr");
        const family = Family{ .open = open, .close = Kept(Schedule).close, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = bytes, .nonce = 16 };
}

/// An AEAD with `encrypt` and `decrypt`; `deterministic`: SIV, which has no nonce here.
pub fn aead(comptime id: [:0]const u8, comptime A: type, comptime deterministic: bool) Row {
    const nonce_length = if (deterministic) 0 else A.nonce_length;
    const Of = struct {
        fn open(c: *Case) callconv(.c) c_int {
            c.out_len = if (c.inverse != 0) c.size else c.size + A.tag_length;
            return 0;
        }
        inline fn nonceOf(c: *Case, turn: usize) if (deterministic) ?[]const u8 else [nonce_length]u8 {
            return if (deterministic) null else array(nonce_length, c.nonce[turn]).*;
        }
        inline fn seal(c: *Case, key: usize, turn: usize) bool {
            const tag = c.out[c.size..][0..A.tag_length];
            A.encrypt(c.out[0..c.size], tag, c.data(), c.additional(), nonceOf(c, turn), array(A.key_length, c.key[key]).*);
            return true;
        }
        fn sealOne(c: *Case, turn: usize) bool {
            return seal(c, 0, turn);
        }
        fn sealAfresh(c: *Case, turn: usize) bool {
            return seal(c, turn, turn);
        }
        fn openOne(c: *Case, _: usize) bool {
            const tag = c.in.?[c.size..][0..A.tag_length].*;
            A.decrypt(c.out[0..c.size], c.data(), tag, c.additional(), nonceOf(c, 0), array(A.key_length, c.key[0]).*) catch return false;
            return true;
        }
        fn sealMessage(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, sealOne);
        }
        fn sealRekey(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, sealAfresh);
        }
        fn openLoop(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, openOne);
        }
        const rekeyed = [_]Variant{
            .{ .operation = "seal", .contract = "rekey/1", .calls = "encrypt", .loop = sealRekey },
            .{ .operation = "open", .contract = "rekey/1", .calls = "decrypt", .loop = openLoop },
            End,
        };
        const variants = if (deterministic) rekeyed else [_]Variant{
            .{ .operation = "seal", .contract = "message/1", .calls = "encrypt", .loop = sealMessage },
            .{ .operation = "open", .contract = "message/1", .calls = "decrypt", .loop = openLoop },
        } ++ rekeyed;
        const family = Family{ .open = open, .close = closeNothing, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = A.key_length, .nonce = nonce_length, .output = A.tag_length };
}

/// HKDF: extract and expand.
pub fn hkdf(comptime id: [:0]const u8, comptime K: type) Row {
    const most = 255 * K.prk_length;
    const Of = struct {
        fn open(c: *Case) callconv(.c) c_int {
            c.out_len = c.size;
            return if (c.size > most) c.fail("HKDF gives at most 255 digests") else 0;
        }
        fn one(c: *Case, turn: usize) bool {
            const salt: []const u8 = if (c.nonce[turn]) |at| at[0..c.nonce_len] else &.{};
            const secret = K.extract(salt, c.key[0].?[0..c.key_len]);
            K.expand(c.out[0..c.size], c.additional(), secret);
            return true;
        }
        fn loop(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, one);
        }
        const variants = [_]Variant{
            .{ .operation = "expand", .contract = "expand/1", .calls = "extract, expand", .loop = loop },
            End,
        };
        const family = Family{ .open = open, .close = closeNothing, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .key = 32, .nonce = 32 };
}

/// A password hash: `derive(out, password, salt)`.
pub fn password(comptime id: [:0]const u8, comptime calls: [:0]const u8, comptime salt: u16, comptime length: u16, comptime derive: anytype) Row {
    const Of = struct {
        fn one(c: *Case, turn: usize) bool {
            derive(c.out[0..length], c.data(), c.nonce[turn].?[0..c.nonce_len]) catch return false;
            return true;
        }
        fn loop(c: *Case, n: u64) callconv(.c) void {
            repeat(c, n, c, one);
        }
        const variants = [_]Variant{
            .{ .operation = "hash", .contract = "password/1", .calls = calls, .loop = loop },
            End,
        };
        const family = Family{ .open = openNothing, .close = closeNothing, .variants = &variants };
    };
    return .{ .algorithm = id, .family = &Of.family, .nonce = salt, .output = length };
}

/// A loop whose cost is known: `size` multiplications, one after the other.
pub fn chain() Row {
    const Of = struct {
        var value: u64 = 0;
        fn begin(_: *Case) callconv(.c) void {
            value = 0x9e3779b97f4a7c15;
        }
        fn loop(c: *Case, n: u64) callconv(.c) void {
            var x = value;
            var left = n *% c.size;
            while (left > 0) : (left -= 1) {
                x *%= 0xbf58476d1ce4e5b9;
                asm volatile (""
                    : [x] "+r" (x),
                );
            }
            value = x;
        }
        fn show(c: *Case) callconv(.c) void {
            std.mem.writeInt(u64, c.out[0..8], value, .little);
        }
        const variants = [_]Variant{
            .{ .operation = "run", .contract = "stream/1", .calls = "x *%= 0xbf58476d1ce4e5b9", .begin = begin, .loop = loop, .show = show },
            End,
        };
        const family = Family{ .open = openNothing, .close = closeNothing, .variants = &variants };
    };
    return .{ .algorithm = "probe-imul", .family = &Of.family, .output = 8 };
}
