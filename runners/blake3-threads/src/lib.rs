//! BLAKE3 on several threads. The caller is one of them and stays on its core; the others run on the other cores.

use perbyte_runner::*;
use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};
use std::sync::OnceLock;

/// The threads that hash, the caller with them: PERBYTE_THREADS, and else one for each core that is online.
fn threads() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let asked = std::env::var("PERBYTE_THREADS").ok().and_then(|text| text.parse().ok());
        asked.filter(|count| *count > 0).unwrap_or(online())
    })
}

fn online() -> usize {
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.max(1) as usize
}

/// A runner is bound to one core. The helpers are bound to all others, where there are any.
fn leave(caller: usize) {
    unsafe {
        let mut others: libc::cpu_set_t = zeroed();
        for core in (0..libc::CPU_SETSIZE as usize).filter(|core| *core != caller) {
            libc::CPU_SET(core, &mut others);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &others);
    }
}

fn pool() -> &'static rayon_core::ThreadPool {
    static POOL: OnceLock<rayon_core::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        let caller = unsafe { libc::sched_getcpu() }.max(0) as usize;
        rayon_core::ThreadPoolBuilder::new()
            .num_threads(threads())
            .use_current_thread()
            .start_handler(move |index| if index > 0 { leave(caller) })
            .build()
            .expect("threads")
    })
}

struct Blake3;

impl Hash for Blake3 {
    const CALLS: &'static CStr = c"Hasher::new, update_rayon, finalize";
    fn digest(data: &[u8], out: &mut [u8]) {
        pool();
        let mut hasher = blake3::Hasher::new();
        hasher.update_rayon(data);
        out.copy_from_slice(hasher.finalize().as_bytes());
    }
}

fn version_and_threads() -> &'static CStr {
    static WORDS: OnceLock<CString> = OnceLock::new();
    WORDS.get_or_init(|| CString::new(format!("1.8.7, {} threads", threads())).expect("no zero byte"))
}

runner! {
    library: c"BLAKE3 on threads", license: c"CC0-1.0 OR Apache-2.0", version: version_and_threads(),
    rows: [
        probe_empty(),
        probe_imul(),
        hash::<Blake3>(c"blake3", 32),
    ]
}
