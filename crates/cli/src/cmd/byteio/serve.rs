//! `wirespeed byteio serve`.

use crate::args::ByteioServeArgs;
use crate::cmd::serve::{bearer, listen, secrets};
use crate::errors::{Ended, Failure};
use crate::output;
use std::fmt::Write as _;
use wirespeed_byteio::service::{Limits, Service, ServiceOptions};
use wirespeed_control::auth::http::SecureServer;
use wirespeed_control::auth::keyfile::{self, KeyFile};
use wirespeed_control::serve::Listen;
use wirespeed_schema::units;

/// Serve until stopped.
pub fn serve(arguments: &ByteioServeArgs) -> Result<Ended, Failure> {
    let listen = listen(&arguments.listen)?;
    let wider = listen != Listen::Loopback;
    let key = match (wider && !arguments.plain) || arguments.tls {
        true => Some(KeyFile::load_or_make(&keyfile::path(arguments.key.as_deref())?)?),
        false => None,
    };
    let options = ServiceOptions {
        path: arguments.path.clone(),
        listen,
        port: arguments.port,
        writable: arguments.writable,
        secure: key.as_ref().map(SecureServer::new).transpose()?,
        limits: limits(arguments)?,
    };
    let stop = crate::cmd::stop_on_signals()?;
    let service = Service::bind(options, &stop)?;
    output::print(&greeting(&service, arguments, key.as_ref()))?;
    service.run()?;
    Ok(Ended::OK)
}

fn limits(arguments: &ByteioServeArgs) -> Result<Limits, Failure> {
    let bad = |option: &str, e: units::UnitError| {
        Failure::usage(format!("--{option}: {e}"), "see `wirespeed byteio serve --help`")
    };
    super::job::congestion(arguments.congestion.as_deref())?;
    Ok(Limits {
        connections_max: arguments.connections_max as usize,
        read_bytes_max: units::parse_size(&arguments.read_max)
            .map_err(|e| bad("read-max", e))?
            .min(u64::from(u32::MAX)),
        write_bytes_max: units::parse_size(&arguments.write_max).map_err(|e| bad("write-max", e))?,
        patience: super::job::time("stall", &arguments.stall)?,
        congestion: arguments.congestion.clone(),
        ..Limits::default()
    })
}

/// Where it listens, and how others get in.
fn greeting(service: &Service, arguments: &ByteioServeArgs, key: Option<&KeyFile>) -> String {
    let scheme = if key.is_some() { "https" } else { "http" };
    let mut text = String::new();
    for address in service.addresses() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "listening on {scheme}://{address}/");
    }
    match key {
        Some(key) if arguments.print_identity => {
            text.push_str(&secrets(key.identity()));
            text.push_str(&bearer(key.identity()));
        }
        Some(_) => text.push_str(
            "clients need the key file; without a shared home, --print-identity shows what to copy\n",
        ),
        None if arguments.plain => text.push_str("warning: plain HTTP, whoever reaches the port can read\n"),
        None => {}
    }
    text
}
