//! Configure and make the OpenSSL that the crate openssl-src carries, as static libraries.
//!
//! Arguments: the directory for build and installation, and the target triple. Products: install/include and
//! install/lib/libcrypto.a in that directory, the provider `legacy` inside the library (openssl-src builds without
//! loadable modules).

use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [out, target] = arguments.as_slice() else {
        eprintln!("usage: make-openssl DIRECTORY TARGET");
        return ExitCode::from(2);
    };
    let made = openssl_src::Build::new()
        .out_dir(Path::new(out))
        .target(target)
        .host(target)
        .try_build();
    match made {
        Ok(_) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
