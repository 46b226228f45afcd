//! Compiles the C SDK into the benchmark's program, by the compiler that CC names, without any crate.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    // `src` may be a link into the SDK, from a package of another name
    let own = manifest.join("src").canonicalize().expect("the sources are there");
    let own = own.parent().expect("src lies in the package");
    let c = own.parent().expect("the package lies in the SDK").join("c");
    let mut sources = files(&c, "c");
    sources.push(own.join("coroutine.c"));
    println!("cargo:rerun-if-env-changed=PERBYTE_SDK_ARCHIVE");
    for file in sources.iter().chain(&files(&c, "h")) {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    println!("cargo:rerun-if-env-changed=CC");
    tell_version();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let compiled = env::var("PERBYTE_SDK_ARCHIVE").map(PathBuf::from).ok().filter(|file| file.is_file());
    if compiled.is_some() {
        // `perbyte bench` has it, all but the file that says what a program was built with
        sources.retain(|file| file.ends_with("hello.c") || file.ends_with("coroutine.c"));
    }
    archive(&sources, &c, &out);
    if let Some(file) = compiled {
        fs::copy(&file, out.join("libperbyte_compiled.a")).expect("OUT_DIR can be written");
        println!("cargo:rustc-link-lib=static=perbyte_compiled");
    }
    for library in ["m", "dl", "pthread"] {
        println!("cargo:rustc-link-lib={library}");
    }
}

/// Under criterion's own name the crate has what that version has, because others match all of its variants.
fn tell_version() {
    let of = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u32>().ok()).unwrap_or(u32::MAX);
    let own = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == "criterion");
    let version = if own { (of("CARGO_PKG_VERSION_MAJOR"), of("CARGO_PKG_VERSION_MINOR")) } else { (u32::MAX, 0) };
    for (name, since) in [("has_bits", (0, 6)), ("has_elements_and_bytes", (0, 8))] {
        println!("cargo:rustc-check-cfg=cfg({name})");
        if version >= since {
            println!("cargo:rustc-cfg={name}");
        }
    }
}

fn archive(sources: &[PathBuf], include: &Path, out: &Path) {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = compiler.split_whitespace();
    let program = words.next().expect("CC names a compiler");
    let more: Vec<&str> = words.collect();
    let level = env::var("OPT_LEVEL").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    let rustc = rustc();
    let mut running = Vec::new();
    let mut objects = Vec::new();
    for file in sources {
        let object = out.join(file.with_extension("o").file_name().expect("a file has a name"));
        let mut command = Command::new(program);
        command.args(&more).args(["-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-fPIC", "-w", "-c"]);
        command.arg(format!("-DPB_COMPILER={}", quoted(&rustc)));
        command.arg(format!("-DPB_FLAGS={}", quoted(format!("opt-level={level} {flags}").trim())));
        command.arg("-I").arg(include).arg("-o").arg(&object).arg(file);
        let started = command.spawn();
        running.push(started.unwrap_or_else(|error| panic!("{program}: {error}; install a C compiler, or set CC")));
        objects.push(object);
    }
    let ended: Vec<bool> = running.iter_mut().map(|one| one.wait().is_ok_and(|status| status.success())).collect();
    assert!(ended.into_iter().all(|well| well), "the C SDK cannot be compiled by {compiler}");
    let status = Command::new("ar").arg("crs").arg(out.join("libperbyte_sdk.a")).args(&objects).status();
    assert!(status.is_ok_and(|it| it.success()), "ar cannot make the library of the C SDK");
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=perbyte_sdk");
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
    let said = Command::new(env::var("RUSTC").unwrap_or_else(|_| "rustc".into())).arg("--version").output();
    said.map_or_else(|_| "rustc".into(), |it| String::from_utf8_lossy(&it.stdout).trim().to_owned())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace(['\\', '"'], ""))
}
