//! Functions of Rust as a runner of Perbyte.
//!
//! Implement one of the traits below for a type of yours, name it in a row, and link the static library with
//! `runners/sdk/c` and `main.c`: protocol, data, clock and checks are the C SDK's. The loops here are generic, so that
//! a function is inlined into them as into a program of a user.
//!
//! ```ignore
//! use perbyte_runner::*;
//!
//! struct Sha256;
//! impl Hash for Sha256 {
//!     fn digest(data: &[u8], out: &mut [u8]) {
//!         out.copy_from_slice(&my_crate::sha256(data));
//!     }
//! }
//!
//! runner! {
//!     library: c"my crate", license: c"MIT", version: c"1.0",
//!     rows: [hash::<Sha256>(c"sha-256", 32)]
//! }
//! ```

pub mod layout;

#[macro_use]
mod families;
mod publickey;

pub use families::*;
pub use layout::{Row, Runner};
pub use publickey::*;

/// Export a runner: its name is that of the directory, which the build gives as PERBYTE_RUNNER_NAME.
#[macro_export]
macro_rules! runner {
    (library: $library:expr, license: $license:expr, version: $version:expr, rows: [$($row:expr),* $(,)?]) => {
        const COUNT: usize = [$(stringify!($row)),*].len() + 1;
        static ROWS: [$crate::Row; COUNT] = [$($row,)* $crate::END_OF_ROWS];
        struct Tables([*const $crate::Row; 2]);
        unsafe impl Sync for Tables {}
        static TABLES: Tables = Tables([&ROWS as *const $crate::Row, core::ptr::null()]);

        unsafe extern "C" fn version() -> *const core::ffi::c_char {
            $version.as_ptr()
        }

        /// One tier is one build: what it was built as is the only one it starts in.
        unsafe extern "C" fn start(tier: *const core::ffi::c_char) -> core::ffi::c_int {
            let wanted = core::ffi::CStr::from_ptr(tier).to_bytes();
            if wanted == option_env!("PERBYTE_TIER").unwrap_or("full").as_bytes() { 0 } else { -1 }
        }

        #[no_mangle]
        pub static perbyte_rust_runner: $crate::Runner = $crate::Runner {
            name: concat!(env!("PERBYTE_RUNNER_NAME"), "\0").as_ptr().cast(),
            library: $library.as_ptr(),
            license: $license.as_ptr(),
            version,
            cpu_features: None,
            object: version as *const core::ffi::c_void,
            start: Some(start),
            offers: None,
            code_path: None,
            tables: &TABLES as *const Tables as *const *const $crate::Row,
            empty: None,
            refresh: None,
            aligned: 0,
        };
    };
}
