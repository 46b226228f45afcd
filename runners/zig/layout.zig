//! The structures of `runners/sdk/c/perbyte.h`, field by field. `describe` is compared with C's when the program starts.

pub const ring = 16;

pub const Case = extern struct {
    row: *const Row,
    size: usize,
    in: ?[*]const u8,
    out: [*]u8,
    message: [ring]?[*]const u8,
    key: [ring]?[*]const u8,
    nonce: [ring]?[*]const u8,
    aad: ?[*]const u8,
    key_len: usize,
    nonce_len: usize,
    aad_len: usize,
    in_len: usize,
    out_len: usize,
    failures: u64,
    inverse: c_int,
    given: c_int,
    turns: c_uint,
    most: c_uint,
    calls: u64,
    ctx: ?*anyopaque,
    words: [256]u8,

    pub fn data(c: *const Case) []const u8 {
        return slice(c.in, c.size);
    }

    pub fn whole(c: *const Case) []const u8 {
        return slice(c.in, c.in_len);
    }

    pub fn additional(c: *const Case) []const u8 {
        return slice(c.aad, c.aad_len);
    }

    pub fn outputLength(c: *const Case) usize {
        return c.row.output;
    }

    /// Keep words about an error; the value that a family's `open` returns then.
    pub fn fail(c: *Case, comptime words: []const u8) c_int {
        @memcpy(c.words[0..words.len], words);
        c.words[words.len] = 0;
        return -1;
    }
};

fn slice(at: ?[*]const u8, length: usize) []const u8 {
    return if (at) |pointer| pointer[0..length] else &.{};
}

pub const Run = *const fn (*Case, u64) callconv(.c) void;
pub const Untimed = *const fn (*Case) callconv(.c) void;

pub const Variant = extern struct {
    operation: ?[*:0]const u8 = null,
    contract: ?[*:0]const u8 = null,
    calls: ?[*:0]const u8 = null,
    begin: ?Untimed = null,
    loop: ?Run = null,
    show: ?Untimed = null,
};

pub const Family = extern struct {
    open: *const fn (*Case) callconv(.c) c_int,
    close: *const fn (*Case) callconv(.c) void,
    variants: [*]const Variant,
};

pub const Row = extern struct {
    algorithm: ?[*:0]const u8 = null,
    family: ?*const Family = null,
    param: ?*const anyopaque = null,
    key: u16 = 0,
    nonce: u16 = 0,
    multiple: u16 = 1,
    output: u16 = 0,
};

/// Sizes and offsets in the order in which main.c lists its own.
pub const described = [_]usize{
    @sizeOf(Case),               @offsetOf(Case, "in"),     @offsetOf(Case, "message"), @offsetOf(Case, "nonce"),
    @offsetOf(Case, "aad"),      @offsetOf(Case, "in_len"), @offsetOf(Case, "out_len"), @offsetOf(Case, "failures"),
    @offsetOf(Case, "turns"),    @offsetOf(Case, "calls"),    @offsetOf(Case, "ctx"),    @offsetOf(Case, "words"),   @sizeOf(Variant),
    @offsetOf(Variant, "begin"), @offsetOf(Variant, "show"), @sizeOf(Family),           @offsetOf(Family, "variants"),
    @sizeOf(Row),                @offsetOf(Row, "key"),     @offsetOf(Row, "output"),
};
