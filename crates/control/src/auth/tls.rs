//! TLS 1.3 with a pinned certificate: the configuration of both ends, the handshake under a deadline, and the value that
//! binds a proof to one connection.

use super::keyfile::KeyFile;
use super::{Identity, fingerprint};
use crate::deadlined::Deadlined;
use crate::error::ControlError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, Connection, DigitallySignedStruct, Error, ServerConfig,
    ServerConnection, SignatureScheme,
};
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

/// The name in every server's certificate; the fingerprint tells servers apart.
pub(super) const SERVER_NAME: &str = "wirespeed";

/// The protocol inside TLS. Versions are agreed on later, so that two that do not meet can explain.
pub(crate) const ALPN: &[u8] = b"wirespeed";

/// Requests and answers of HTTP inside TLS.
pub(crate) const HTTP: &[u8] = b"http/1.1";

const EXPORT_LABEL: &[u8] = b"EXPORTER-wirespeed-client-proof";

/// Accepts exactly the certificate with one fingerprint.
#[derive(Debug)]
struct Pinned {
    fingerprint: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if fingerprint(end_entity) == self.fingerprint {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(
                CertificateError::ApplicationVerificationFailure,
            ))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::PeerIncompatible(
            rustls::PeerIncompatible::Tls12NotOfferedOrEnabled,
        ))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// A client's connection for `protocol` inside TLS, before its handshake.
pub(crate) fn client(identity: &Identity, protocol: &[u8]) -> Result<Connection, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(Pinned {
        fingerprint: identity.fingerprint,
        provider: provider.clone(),
    });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    config.enable_sni = false;
    let name = ServerName::try_from(SERVER_NAME).map_err(|_| Error::General("server name".into()))?;
    ClientConnection::new(Arc::new(config), name).map(Connection::Client)
}

/// What a server needs to accept connections with `protocol` inside TLS.
pub(crate) fn server_config(key: &KeyFile, protocol: &[u8]) -> Result<Arc<ServerConfig>, ControlError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from(key.certificate.clone());
    let private_key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.private_key.clone()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(vec![certificate], private_key)
        });
    let mut config = config.map_err(|e| ControlError::BadKey {
        what: "the key file".into(),
        why: e.to_string(),
    })?;
    config.alpn_protocols = vec![protocol.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// A server's connection, before its handshake.
pub(crate) fn server(config: &Arc<ServerConfig>) -> Result<Connection, Error> {
    ServerConnection::new(config.clone()).map(Connection::Server)
}

/// Shake hands by `deadline`.
pub(crate) fn shake_hands(
    stream: &TcpStream,
    connection: &mut Connection,
    deadline: Instant,
) -> io::Result<()> {
    let mut stream = Deadlined { stream, deadline };
    while connection.is_handshaking() {
        let (read, _) = connection.complete_io(&mut stream)?;
        if read == 0 && connection.is_handshaking() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    // The last flight of a client may still be here.
    while connection.wants_write() {
        connection.write_tls(&mut stream)?;
    }
    Ok(())
}

/// What is said of whoever speaks something else.
pub(crate) const STRANGE: &str = "it does not speak wirespeed's protocol";

/// A failed TLS handshake in plain words; `None` where something else went wrong.
pub(crate) fn words_of(error: &io::Error) -> Option<&'static str> {
    let tls = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match tls {
        rustls::Error::InvalidCertificate(_) => "its certificate is another",
        rustls::Error::InvalidMessage(_) => STRANGE,
        rustls::Error::AlertReceived(_) => "it refused the TLS handshake",
        _ => "the TLS handshake failed",
    })
}

/// Whether a handshake failed because the far end is not the one whose certificate is known.
pub(crate) fn is_anothers(error: &io::Error) -> bool {
    let tls = error.get_ref().and_then(|error| error.downcast_ref());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}

/// The value that only this connection has.
pub(crate) fn channel_value(connection: &Connection) -> io::Result<[u8; 32]> {
    let exported = match connection {
        Connection::Client(c) => c.export_keying_material([0; 32], EXPORT_LABEL, None),
        Connection::Server(c) => c.export_keying_material([0; 32], EXPORT_LABEL, None),
    };
    exported.map_err(io::Error::other)
}
