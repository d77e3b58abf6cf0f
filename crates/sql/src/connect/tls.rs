//! TLS of a connection: the files that a user names for it, and the verification of a server's certificate: not at all,
//! its chain, or its chain and name. And why TLS failed, as one line with the next step.

use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use mindful_core::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{self, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    SupportedProtocolVersion,
};

use super::error_text::Words;
use super::read_bounded;

/// The certificates and the key of a client.
type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

#[derive(Debug)]
pub struct Trust {
    pub roots: RootCertStore,
    /// As themselves: a self-signed server certificate that the user named is trusted although it may call itself a CA,
    /// which chain verification refuses for a server.
    certificates: Vec<CertificateDer<'static>>,
    pub check_name: bool,
}

impl Trust {
    pub fn new(roots: RootCertStore, check_name: bool) -> Self {
        Self { roots, certificates: Vec::new(), check_name }
    }

    /// Adds the certificates in a PEM file that `parameter` names.
    pub fn add_file(&mut self, path: &Path, parameter: &str) -> Result<()> {
        for certificate in read_certificates(path, parameter)? {
            self.roots.add(certificate.clone()).map_err(|error| unreadable(path, parameter, &error))?;
            self.certificates.push(certificate);
        }
        Ok(())
    }
}

/// The configuration of a client. Without `trust` it accepts any server: encryption without verification. The signature of
/// the handshake proves that the server has the key of its certificate; `any_signature` skips that for an unverified server.
pub fn config(
    trust: Option<Trust>,
    any_signature: bool,
    versions: &[&'static SupportedProtocolVersion],
    identity: Option<Identity>,
) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(crypto::ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let any_signature = any_signature && trust.is_none();
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier { trust, any_signature, algorithms }));
    match identity {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key),
        None => Ok(builder.with_no_client_auth()),
    }
}

/// The certificates and the key in PEM files, each with the parameter that names it; [`read_key`] says what a file of a key
/// must be.
pub fn read_identity(certificates: (&Path, &str), key: (&Path, &str), group_reads: bool) -> Result<Identity> {
    Ok((read_certificates(certificates.0, certificates.1)?, read_key(key.0, key.1, group_reads)?))
}

/// The certificates in a PEM file that `parameter` names.
fn read_certificates(path: &Path, parameter: &str) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = read_bounded(path).map_err(|error| unreadable(path, parameter, &error))?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let certificates = certificates.map_err(|error| unreadable(path, parameter, &error))?;
    let none = certificates.is_empty();
    if none { Err(unreadable(path, parameter, &"it contains no certificate")) } else { Ok(certificates) }
}

/// The key in a PEM file that `parameter` names. It must be closed to others, and to its group unless `group_reads` or root
/// owns it.
fn read_key(path: &Path, parameter: &str, group_reads: bool) -> Result<PrivateKeyDer<'static>> {
    let forbidden = |file: &fs::Metadata| if group_reads || file.uid() == 0 { 0o037 } else { 0o077 };
    if fs::metadata(path).is_ok_and(|file| file.mode() & forbidden(&file) != 0) {
        return Err(Error::plan(format!("{parameter} {}: others can read it", path.display()), "`chmod 600` it"));
    }
    let bytes = read_bounded(path).map_err(|error| unreadable(path, parameter, &error))?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| unreadable(path, parameter, &error))
}

fn unreadable(path: &Path, parameter: &str, why: &dyn Display) -> Error {
    let next = format!("name an unencrypted PEM file with {parameter}=FILE");
    Error::plan(format!("cannot read {parameter} {}: {why}", path.display()), next)
}

#[derive(Debug)]
struct Verifier {
    trust: Option<Trust>,
    any_signature: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(trust) = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        if !trust.certificates.iter().any(|known| known == end_entity) {
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, &trust.roots, intermediates, now, algorithms)?;
        }
        if trust.check_name {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.any_signature {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.any_signature {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl Words {
    pub fn explain_tls(&self, fault: &rustls::Error) -> Error {
        match fault {
            rustls::Error::InvalidCertificate(fault) => self.certificate_fault(fault),
            rustls::Error::AlertReceived(alert) => self.refusal(*alert),
            rustls::Error::InvalidMessage(_) => {
                let foreign = self.foreign(" with TLS");
                Error { next: format!("{}, or set {}", foreign.next, self.without_tls()), ..foreign }
            }
            rustls::Error::PeerIncompatible(why) => {
                let what = format!("no TLS version or cipher in common ({why:?})");
                Error::target(what, "enable TLS 1.2 or 1.3 with an ECDHE cipher on the server")
            }
            other => self.failed(other),
        }
    }

    fn failed(&self, fault: &dyn Display) -> Error {
        Error::target(format!("TLS failed ({fault})"), format!("see the server's log, or set {}", self.without_tls()))
    }

    fn without_tls(&self) -> String {
        format!("{}={}", self.mode, self.off)
    }

    fn certificate_fault(&self, fault: &CertificateError) -> Error {
        let Self { mode, verify_ca, ca, .. } = self;
        let or_unverified = format!("or encrypt without verifying: {mode}={}", self.unverified);
        let (what, next) = match fault {
            CertificateError::UnknownIssuer => {
                ("is not signed by a trusted CA".to_owned(), format!("name its CA with {ca}=FILE, {or_unverified}"))
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
                format!("is for {}, not for the host in the URL", names(fault)),
                format!("connect by a name in its subjectAltName, or verify the CA alone with {mode}={verify_ca}"),
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                ("has expired".to_owned(), format!("renew it on the server, {or_unverified}"))
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                ("is not valid yet".to_owned(), format!("check the clocks of both hosts, {or_unverified}"))
            }
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => (
                "is a CA's own".to_owned(),
                format!("name that very certificate with {ca}=FILE, give the server one of its own, {or_unverified}"),
            ),
            other => (format!("cannot be verified ({other})"), format!("replace it on the server, {or_unverified}")),
        };
        Error::target(format!("the server's certificate {what}"), next)
    }

    fn refusal(&self, alert: AlertDescription) -> Error {
        use AlertDescription as Alert;
        let files = format!("{}=FILE and {}=FILE", self.certificate, self.key);
        match alert {
            Alert::CertificateRequired => {
                Error::target("the server asks for a client certificate", format!("name it with {files}"))
            }
            Alert::UnknownCA | Alert::BadCertificate | Alert::CertificateUnknown | Alert::CertificateExpired => {
                let what = format!("the server does not accept the client certificate ({alert:?})");
                Error::target(what, format!("name one signed by its {} with {files}", self.server_ca))
            }
            other => Error::target(format!("the server broke off TLS ({other:?})"), "see the server's log"),
        }
    }
}

fn names(fault: &CertificateError) -> String {
    match fault {
        CertificateError::NotValidForNameContext { presented, .. } if !presented.is_empty() => presented.join(", "),
        _ => "no host by subjectAltName".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    use super::*;

    fn self_signed(is_ca: IsCa) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["db.test".to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    /// Verifies `shown` where the user named `known`.
    fn verify(
        known: &CertificateDer<'static>,
        shown: &CertificateDer<'_>,
        host: Option<&str>,
    ) -> Result<(), rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(known.clone()).unwrap();
        let trust = Some(Trust { roots, certificates: vec![known.clone()], check_name: host.is_some() });
        let algorithms = crypto::ring::default_provider().signature_verification_algorithms;
        let host = ServerName::try_from(host.unwrap_or("any.test").to_owned()).unwrap();
        let verifier = Verifier { trust, any_signature: false, algorithms };
        verifier.verify_server_cert(shown, &[], &host, &[], UnixTime::now()).map(drop)
    }

    #[test]
    fn a_named_certificate_is_trusted_for_its_own_host() {
        for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
            let certificate = self_signed(is_ca);
            assert_eq!(verify(&certificate, &certificate, Some("db.test")), Ok(()));
            assert_eq!(verify(&certificate, &certificate, None), Ok(()));
            let error = verify(&certificate, &certificate, Some("other.test")).unwrap_err();
            let is_for_another =
                |fault: &CertificateError| matches!(fault, CertificateError::NotValidForNameContext { .. });
            assert!(matches!(&error, rustls::Error::InvalidCertificate(fault) if is_for_another(fault)), "{error:?}");
        }
    }

    #[test]
    fn another_self_signed_certificate_is_not_trusted() {
        let (known, shown) = (self_signed(IsCa::NoCa), self_signed(IsCa::NoCa));
        assert!(matches!(verify(&known, &shown, None), Err(rustls::Error::InvalidCertificate(_))));
    }

    #[test]
    fn a_certificate_file_without_an_end_is_refused() {
        let error = read_certificates(Path::new("/dev/zero"), "ca").unwrap_err();
        assert!(error.what.contains("cannot read ca /dev/zero: it is longer than"), "{error}");
    }
}
