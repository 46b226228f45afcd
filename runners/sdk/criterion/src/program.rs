//! The program of a benchmark file: a runner of the C SDK with a row for each benchmark, a list of them, or what `cargo
//! bench` starts, which asks `perbyte` to measure it.

use crate::bencher::{words, Plan};
use crate::registry::{self, Found};
use core::ffi::{c_char, c_int, c_void};
use perbyte_runner::layout::{Case, Family, Row, Runner, Variant};
use std::ffi::CString;
use std::os::unix::process::CommandExt;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::{exit, Command};
use std::sync::OnceLock;

extern "C" {
    fn pb_coroutine_new(enter: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) -> *mut c_void;
    fn pb_coroutine_enter(stack: *mut c_void) -> c_int;
    fn pb_coroutine_free(stack: *mut c_void);
    fn pb_fail(case: *mut Case, format: *const c_char, ...) -> c_int;
    fn pb_keep_output();
    fn pb_runner_main(runner: *const Runner, argc: c_int, argv: *const *const c_char) -> c_int;
}

const WAY: &str = "PERBYTE_BENCH";
static VERSION: OnceLock<CString> = OnceLock::new();

/// What `criterion_main!` calls.
pub fn main(package: &str, package_version: &str, groups: &[fn()]) {
    registry::set_groups(groups);
    match std::env::var(WAY).as_deref() {
        Ok("list") => list(),
        Ok("run") => {
            let name = std::env::var("PERBYTE_NAME").unwrap_or_else(|_| package.into());
            exit(serve(&name, package, package_version));
        }
        _ if std::env::args().any(|word| word == "--bench") => exit(measured()),
        _ => registry::try_all(),
    }
}

/// `cargo bench` has started this: become `perbyte bench` of this very program.
fn measured() -> i32 {
    let me = std::env::current_exe().expect("a program knows its own path");
    let mut command = Command::new(std::env::var("PERBYTE").unwrap_or_else(|_| "perbyte".into()));
    command.arg("bench").arg(me);
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        if word.starts_with('-') {
            command.arg(word);
        } else {
            command.arg("--only").arg(word);
        }
    }
    let error = command.exec();
    eprintln!("perbyte cannot be started: {error}; install it, or say where it is: PERBYTE=/path/to/perbyte cargo bench");
    5
}

fn list() {
    // SAFETY: before anything else runs
    let kept = unsafe { keep_output() };
    let found = registry::look();
    let rows: Vec<String> = found
        .iter()
        .map(|one| {
            format!(
                "{{\"id\":{},\"name\":{},\"bytes\":{},\"contract\":{},\"why\":{}}}",
                text(&one.id),
                text(&one.name),
                one.bytes.unwrap_or(0),
                text(one.contract),
                text(&one.why)
            )
        })
        .collect();
    let unheeded: Vec<String> = registry::unheeded().into_iter().map(text).collect();
    let answer = format!("{{\"benchmarks\":[{}],\"unheeded\":[{}]}}\n", rows.join(","), unheeded.join(","));
    std::io::Write::write_all(&mut { kept }, answer.as_bytes()).expect("the answer can be written");
}

/// What a file prints goes to standard error; the answer goes where standard output led.
unsafe fn keep_output() -> std::fs::File {
    extern "C" {
        fn dup(fd: c_int) -> c_int;
        fn dup2(from: c_int, to: c_int) -> c_int;
    }
    let kept = dup(1);
    dup2(2, 1);
    std::os::fd::FromRawFd::from_raw_fd(kept)
}

fn text(words: &str) -> String {
    let mut told = String::from('"');
    for c in words.chars() {
        match c {
            '"' | '\\' => told.extend(['\\', c]),
            c if (c as u32) < 32 => told += &format!("\\u{:04x}", c as u32),
            c => told.push(c),
        }
    }
    told + "\""
}

fn serve(name: &str, package: &str, package_version: &str) -> i32 {
    // SAFETY: before anything is printed
    unsafe { pb_keep_output() };
    let asked = std::env::args().nth(1).unwrap_or_default();
    let served = !["keep-awake", "print-window"].contains(&asked.as_str()); // these need none of the benchmarks
    let found = if served { registry::look() } else { Vec::new() };
    let mut rows: Vec<Row> = found
        .iter()
        .enumerate()
        .filter(|(_, one)| one.why.is_empty())
        .map(|(index, one)| row(index, one))
        .collect();
    rows.push(perbyte_runner::END_OF_ROWS);
    let tables = [rows.leak().as_ptr(), core::ptr::null()];
    VERSION.get_or_init(|| c_text(package_version));
    let runner = Runner {
        name: c_text(name).into_raw(),
        library: c_text(package).into_raw(),
        license: c"not stated".as_ptr(),
        version,
        cpu_features: None,
        object: version as *const c_void,
        start: None,
        offers: None,
        code_path: None,
        tables: tables.as_ptr(),
        empty: None,
        refresh: None,
        aligned: 0,
    };
    let words: Vec<CString> = std::env::args().map(|word| c_text(&word)).collect();
    let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(core::ptr::null());
    // SAFETY: all of it lives until the program ends
    unsafe { pb_runner_main(&runner, words.len() as c_int, pointers.as_ptr()) }
}

fn c_text(words: &str) -> CString {
    CString::new(words.replace('\0', "")).expect("no zero is left")
}

unsafe extern "C" fn version() -> *const c_char {
    VERSION.get().map_or(c"".as_ptr(), |it| it.as_ptr())
}

/// The row of a benchmark; its parameter is the index plus one.
fn row(index: usize, one: &Found) -> Row {
    let variant = Variant {
        operation: c"call".as_ptr(),
        contract: c_text(one.contract).into_raw(),
        calls: c_text(&one.name).into_raw(),
        begin: Some(begin),
        run: Some(run),
        show: None,
    };
    let end = Variant {
        operation: core::ptr::null(),
        contract: core::ptr::null(),
        calls: core::ptr::null(),
        begin: None,
        run: None,
        show: None,
    };
    let variants = vec![variant, end].leak().as_ptr();
    Row {
        algorithm: c_text(&one.id).into_raw(),
        family: Box::leak(Box::new(Family { open, close, variants })),
        param: core::ptr::without_provenance(index + 1),
        key: 0,
        nonce: 0,
        multiple: 1,
        output: 0,
    }
}

struct Prepared {
    plan: Plan,
    stack: *mut c_void,
}

unsafe extern "C" fn enter(plan: *mut c_void) {
    let plan = plan.cast::<Plan>();
    let index = (*plan).index;
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| registry::run_only(index, plan))) {
        (*plan).words = format!("it panicked: {}", words(&*panic));
    }
}

unsafe extern "C" fn open(case: *mut Case) -> c_int {
    let plan = Plan {
        index: (*(*case).row).param as usize - 1,
        data: core::ptr::null_mut(),
        begin: None,
        run: None,
        most: 0,
        words: "it did not come to its routine, to which it came when it was looked at".into(),
        closing: false,
    };
    let prepared = Box::into_raw(Box::new(Prepared { plan, stack: core::ptr::null_mut() }));
    let plan = &raw mut (*prepared).plan;
    (*prepared).stack = pb_coroutine_new(enter, plan.cast());
    if (*prepared).stack.is_null() {
        drop(Box::from_raw(prepared));
        return pb_fail(case, c"no memory for a stack".as_ptr());
    }
    if pb_coroutine_enter((*prepared).stack) == 0 {
        let told = c_text(&(*plan).words);
        pb_coroutine_free((*prepared).stack);
        drop(Box::from_raw(prepared));
        return pb_fail(case, c"%s".as_ptr(), told.as_ptr());
    }
    (*case).ctx = prepared.cast();
    (*case).most = (*plan).most;
    (*case).out_len = 0; // nothing is known of what comes out
    0
}

/// Let the benchmark go on behind its routine, so that all it holds is dropped.
unsafe extern "C" fn close(case: *mut Case) {
    let prepared = (*case).ctx.cast::<Prepared>();
    registry::pass_all();
    (*prepared).plan.closing = true;
    while pb_coroutine_enter((*prepared).stack) != 0 {}
    pb_coroutine_free((*prepared).stack);
    drop(Box::from_raw(prepared));
}

unsafe extern "C" fn begin(case: *mut Case) {
    let plan = &raw const (*(*case).ctx.cast::<Prepared>()).plan;
    if let Some(begin) = (*plan).begin {
        guarded(case, begin, (*plan).data, (*case).calls);
    }
}

unsafe extern "C" fn run(case: *mut Case, calls: u64) {
    let plan = &raw const (*(*case).ctx.cast::<Prepared>()).plan;
    if let Some(run) = (*plan).run {
        guarded(case, run, (*plan).data, calls);
    }
}

/// A panic is a failed call.
unsafe fn guarded(case: *mut Case, what: unsafe fn(*mut c_void, u64), data: *mut c_void, calls: u64) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| what(data, calls))) {
        let told = c_text(&words(&*panic));
        pb_fail(case, c"it panicked: %s".as_ptr(), told.as_ptr());
        (*case).failures += calls.max(1);
    }
}
