//! The ends of a connection by rustls, for the steps in tls.c: C makes and frees them, and hands over where their bytes are.

use core::ffi::{c_char, c_int, c_void, CStr};
use core::slice::{from_raw_parts, from_raw_parts_mut};
use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::{Arc, Mutex};

use rustls::client::{ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::crypto::{ring, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, Connection, HandshakeKind, NamedGroup, ProtocolVersion, RootCertStore,
    ServerConfig, ServerConnection,
};

extern "C" {
    fn pb_stream_put(stream: *mut c_void, data: *const c_void, size: usize) -> isize;
    fn pb_stream_get(stream: *mut c_void, data: *mut c_void, size: usize) -> usize;
}

struct Stream(*mut c_void);

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        match unsafe { pb_stream_get(self.0, into.as_mut_ptr().cast(), into.len()) } {
            0 => Err(Error::from(ErrorKind::WouldBlock)),
            got => Ok(got),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        match unsafe { pb_stream_put(self.0, from.as_ptr().cast(), from.len()) } {
            -1 => Err(Error::from(ErrorKind::OutOfMemory)),
            _ => Ok(from.len()),
        }
    }
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A ticket is good for one connection, whose server gives out the next. The first connection's server gives out many, for
/// connections that end before they have taken one in.
const SUPPLY: usize = 200;

/// Full handshakes keep the newest ticket and use none.
#[derive(Debug)]
struct Tickets {
    kept: Mutex<VecDeque<Tls13ClientSessionValue>>,
    resumed: bool,
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}
    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }
    fn set_tls12_session(&self, _: ServerName<'static>, _: Tls12ClientSessionValue) {}
    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }
    fn remove_tls12_session(&self, _: &ServerName<'static>) {}
    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut kept = self.kept.lock().unwrap();
        if !self.resumed {
            kept.clear();
        }
        kept.push_back(ticket);
    }
    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        if self.resumed { self.kept.lock().unwrap().pop_front() } else { None }
    }
}

struct Configs {
    client: Arc<ClientConfig>,
    first: Option<Arc<ServerConfig>>, // the first connection's, with its supply
    server: Arc<ServerConfig>,
    name: ServerName<'static>,
    resumed: bool,
}

struct End {
    connection: Connection,
    input: Stream,
    output: Stream,
    resumed: bool,
}

impl End {
    /// Takes in what is there, and gives out what that asks for.
    fn go_on(&mut self) -> Option<()> {
        loop {
            match self.connection.read_tls(&mut self.input) {
                Ok(0) => return None,
                Ok(_) => drop(self.connection.process_new_packets().ok()?),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return None,
            }
        }
        self.give_out()
    }

    fn give_out(&mut self) -> Option<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.output).ok()?;
        }
        Some(())
    }

    fn put(&mut self, mut data: &[u8]) -> Option<()> {
        while !data.is_empty() {
            let taken = self.connection.writer().write(data).ok()?;
            data = &data[taken..];
            self.give_out()?;
        }
        Some(())
    }

    fn get(&mut self, mut into: &mut [u8]) -> Option<()> {
        while !into.is_empty() {
            match self.connection.reader().read(into) {
                Ok(got) if got > 0 => into = &mut into[got..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.connection.read_tls(&mut self.input).ok().filter(|got| *got > 0)?;
                    self.connection.process_new_packets().ok()?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn export(&self, secret: &mut [u8]) -> Option<()> {
        let wanted = if self.resumed { HandshakeKind::Resumed } else { HandshakeKind::Full };
        let version = self.connection.protocol_version();
        let as_wanted = self.connection.handshake_kind() == Some(wanted);
        (as_wanted && version == Some(ProtocolVersion::TLSv1_3)).then_some(())?;
        self.connection.export_keying_material(secret, b"EXPORTER-perbyte", None).ok().map(drop)
    }
}

fn configs(
    group: &str,
    cipher: &str,
    resumed: bool,
    root: &[u8],
    leaf: &[u8],
    key: &[u8],
) -> Option<Configs> {
    let mut provider: CryptoProvider = ring::default_provider();
    let wanted = if group == "p256" { NamedGroup::secp256r1 } else { NamedGroup::X25519 };
    let suite = match cipher {
        "aes-128-gcm" => ring::cipher_suite::TLS13_AES_128_GCM_SHA256,
        "aes-256-gcm" => ring::cipher_suite::TLS13_AES_256_GCM_SHA384,
        _ => ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    };
    provider.kx_groups.retain(|known| known.name() == wanted);
    provider.cipher_suites = vec![suite];
    let provider = Arc::new(provider);
    let mut trusted = RootCertStore::empty();
    trusted.add(CertificateDer::from_pem_slice(root).ok()?).ok()?;
    let shown = vec![CertificateDer::from_pem_slice(leaf).ok()?];
    let mut client = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .ok()?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .ok()?
        .with_no_client_auth()
        .with_single_cert(shown, PrivateKeyDer::from_pem_slice(key).ok()?)
        .ok()?;
    server.ticketer = ring::Ticketer::new().ok()?;
    server.send_tls13_tickets = 1;
    client.resumption = Resumption::store(Arc::new(Tickets { kept: Mutex::default(), resumed }));
    let mut first = server.clone();
    first.send_tls13_tickets = if resumed { SUPPLY } else { 1 };
    Some(Configs {
        client: Arc::new(client),
        first: Some(Arc::new(first)),
        server: Arc::new(server),
        name: ServerName::try_from("localhost").ok()?,
        resumed,
    })
}

unsafe fn text<'a>(at: *const c_char) -> &'a str {
    CStr::from_ptr(at).to_str().unwrap_or("")
}

fn boxed<T>(made: Option<T>) -> *mut T {
    made.map_or(core::ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

/// Freed by `rustls_free_configs`; null where the library refuses something.
#[no_mangle]
pub unsafe extern "C" fn rustls_configs(
    group: *const c_char,
    cipher: *const c_char,
    resumed: c_int,
    root: *const c_char,
    leaf: *const c_char,
    key: *const c_char,
) -> *mut c_void {
    let [root, leaf, key] = [root, leaf, key].map(|pem| CStr::from_ptr(pem).to_bytes());
    boxed(configs(text(group), text(cipher), resumed != 0, root, leaf, key)).cast()
}

#[no_mangle]
pub unsafe extern "C" fn rustls_free_configs(configs: *mut c_void) {
    drop(Box::from_raw(configs as *mut Configs));
}

/// A new end that has not said anything; freed by `rustls_free_end`.
#[no_mangle]
pub unsafe extern "C" fn rustls_end(
    configs: *mut c_void,
    client: c_int,
    input: *mut c_void,
    output: *mut c_void,
) -> *mut c_void {
    let made = &mut *(configs as *mut Configs);
    let connection = if client != 0 {
        ClientConnection::new(made.client.clone(), made.name.clone()).ok().map(Connection::Client)
    } else {
        ServerConnection::new(made.first.take().unwrap_or_else(|| made.server.clone())).ok().map(Connection::Server)
    };
    boxed(connection.map(|connection| End {
        connection,
        input: Stream(input),
        output: Stream(output),
        resumed: made.resumed,
    }))
    .cast()
}

#[no_mangle]
pub unsafe extern "C" fn rustls_free_end(end: *mut c_void) {
    let mut end = Box::from_raw(end as *mut End);
    if end.resumed && !end.connection.is_handshaking() {
        let _ = end.go_on(); // its ticket is not lost
    }
}

/// 1 where the end still waits for the other one, 0 where its handshake is done, -1 where it was refused.
#[no_mangle]
pub unsafe extern "C" fn rustls_go_on(end: *mut c_void) -> c_int {
    let end = &mut *(end as *mut End);
    end.go_on().map_or(-1, |()| end.connection.is_handshaking() as c_int)
}

#[no_mangle]
pub unsafe extern "C" fn rustls_put(end: *mut c_void, data: *const u8, size: usize) -> c_int {
    (*(end as *mut End)).put(from_raw_parts(data, size)).is_some() as c_int
}

#[no_mangle]
pub unsafe extern "C" fn rustls_get(end: *mut c_void, data: *mut u8, size: usize) -> c_int {
    (*(end as *mut End)).get(from_raw_parts_mut(data, size)).is_some() as c_int
}

#[no_mangle]
pub unsafe extern "C" fn rustls_export(end: *const c_void, secret: *mut u8, size: usize) -> c_int {
    (*(end as *const End)).export(from_raw_parts_mut(secret, size)).is_some() as c_int
}
