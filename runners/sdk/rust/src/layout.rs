//! The structures of `runners/sdk/c/perbyte.h`, field by field. tests/sdk/test_rust_sdk.py compares their layout with C's.

use core::ffi::{c_char, c_int, c_uint, c_void};

pub const RING: usize = 16;

#[repr(C)]
pub struct Case {
    pub row: *const Row,
    pub size: usize,
    pub input: *const u8,
    pub out: *mut u8,
    pub message: [*const u8; RING],
    pub key: [*const u8; RING],
    pub nonce: [*const u8; RING],
    pub aad: *const u8,
    pub key_len: usize,
    pub nonce_len: usize,
    pub aad_len: usize,
    pub in_len: usize,
    pub out_len: usize,
    pub failures: u64,
    pub inverse: c_int,
    pub given: c_int,
    pub turns: c_uint,
    pub most: c_uint,
    pub calls: u64,
    pub ctx: *mut c_void,
    pub error: [c_char; 256],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Variant {
    pub operation: *const c_char,
    pub contract: *const c_char,
    pub calls: *const c_char,
    pub begin: Option<unsafe extern "C" fn(*mut Case)>,
    pub run: Option<unsafe extern "C" fn(*mut Case, u64)>,
    pub show: Option<unsafe extern "C" fn(*mut Case)>,
}

#[repr(C)]
pub struct Family {
    pub open: unsafe extern "C" fn(*mut Case) -> c_int,
    pub close: unsafe extern "C" fn(*mut Case),
    pub variants: *const Variant,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Row {
    pub algorithm: *const c_char,
    pub family: *const Family,
    pub param: *const c_void,
    pub key: u16,
    pub nonce: u16,
    pub multiple: u16,
    pub output: u16,
}

#[repr(C)]
pub struct Runner {
    pub name: *const c_char,
    pub library: *const c_char,
    pub license: *const c_char,
    pub version: unsafe extern "C" fn() -> *const c_char,
    pub cpu_features: Option<unsafe extern "C" fn() -> *const c_char>,
    pub object: *const c_void,
    pub start: Option<unsafe extern "C" fn(*const c_char) -> c_int>,
    pub offers: Option<unsafe extern "C" fn(*const Row) -> c_int>,
    pub code_path: Option<unsafe extern "C" fn(*const Row) -> *const c_char>,
    pub tables: *const *const Row,
    pub empty: Option<unsafe extern "C" fn()>,
    pub refresh: Option<unsafe extern "C" fn(*mut Case) -> c_int>,
    pub aligned: c_uint,
}

// Constants that nothing writes to; the pointers in them lead to constants too.
unsafe impl Sync for Runner {}
unsafe impl Sync for Row {}
unsafe impl Sync for Variant {}
unsafe impl Sync for Family {}

/// The sizes and offsets of every structure, in the order in which tests/sdk/layout.c prints them.
pub fn describe() -> Vec<usize> {
    use core::mem::{offset_of, size_of};
    vec![
        size_of::<Case>(),
        offset_of!(Case, size),
        offset_of!(Case, input),
        offset_of!(Case, out),
        offset_of!(Case, message),
        offset_of!(Case, key),
        offset_of!(Case, nonce),
        offset_of!(Case, aad),
        offset_of!(Case, key_len),
        offset_of!(Case, nonce_len),
        offset_of!(Case, aad_len),
        offset_of!(Case, in_len),
        offset_of!(Case, out_len),
        offset_of!(Case, failures),
        offset_of!(Case, inverse),
        offset_of!(Case, given),
        offset_of!(Case, turns),
        offset_of!(Case, most),
        offset_of!(Case, calls),
        offset_of!(Case, ctx),
        offset_of!(Case, error),
        size_of::<Variant>(),
        offset_of!(Variant, calls),
        offset_of!(Variant, begin),
        offset_of!(Variant, run),
        offset_of!(Variant, show),
        size_of::<Family>(),
        offset_of!(Family, close),
        offset_of!(Family, variants),
        size_of::<Row>(),
        offset_of!(Row, family),
        offset_of!(Row, param),
        offset_of!(Row, key),
        offset_of!(Row, nonce),
        offset_of!(Row, multiple),
        offset_of!(Row, output),
        size_of::<Runner>(),
        offset_of!(Runner, version),
        offset_of!(Runner, cpu_features),
        offset_of!(Runner, object),
        offset_of!(Runner, start),
        offset_of!(Runner, offers),
        offset_of!(Runner, code_path),
        offset_of!(Runner, tables),
        offset_of!(Runner, empty),
        offset_of!(Runner, refresh),
        offset_of!(Runner, aligned),
    ]
}
