//! Compiles the C SDK into the benchmark's program.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    // `src` may be a link into the SDK, where the package has another name
    let own = manifest.join("src").canonicalize().expect("the sources are there");
    let own = own.parent().expect("src lies in the package");
    let c = own.parent().expect("the package lies in the SDK").join("c");
    let sources = files(&c, "c");
    for file in sources.iter().chain(&files(&c, "h")).chain(&[own.join("stack.c")]) {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    let level = env::var("OPT_LEVEL").unwrap_or_default();
    let more = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    cc::Build::new()
        .files(sources)
        .file(own.join("stack.c"))
        .include(&c)
        .flag("-std=c11")
        .define("_GNU_SOURCE", None)
        .define("PB_COMPILER", quoted(&rustc()).as_str())
        .define("PB_FLAGS", quoted(format!("opt-level={level} {more}").trim()).as_str())
        .opt_level(2)
        .debug(true)
        .warnings(false)
        .compile("perbyte_sdk");
    for library in ["m", "dl", "pthread"] {
        println!("cargo:rustc-link-lib={library}");
    }
}

fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}; the C SDK lies beside this crate", directory.display()))
        .map(|entry| entry.expect("a directory that can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == ending))
        .collect();
    found.sort();
    found
}

fn rustc() -> String {
    let program = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let said = std::process::Command::new(program).arg("--version").output();
    said.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned()).unwrap_or_else(|_| "rustc".into())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "").replace('"', ""))
}
