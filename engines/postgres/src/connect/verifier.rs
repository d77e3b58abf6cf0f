//! Verifies a server's certificate by the mode: not at all, its chain, or its chain and name.
//!
//! The signature of the handshake is always checked, which proves that the server has the key of its certificate.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

#[derive(Debug)]
pub(super) struct Trust {
    pub(super) roots: RootCertStore,
    /// As themselves: a self-signed server certificate that the user named is trusted although it may call itself a CA,
    /// which chain verification refuses for a server.
    pub(super) certificates: Vec<CertificateDer<'static>>,
}

#[derive(Debug)]
pub(super) struct Verifier {
    /// `None` trusts any server: encryption without verification.
    pub(super) trust: Option<Trust>,
    pub(super) check_name: bool,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trust) = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        if !trust.certificates.iter().any(|known| known == end_entity) {
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, &trust.roots, intermediates, now, algorithms)?;
        }
        if self.check_name {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
    use rustls::CertificateError;
    use rustls::crypto::ring;

    use super::*;

    fn self_signed(is_ca: IsCa) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["db.test".to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    fn verify(
        known: &CertificateDer<'static>,
        shown: &CertificateDer<'_>,
        check_name: bool,
        host: &str,
    ) -> Result<(), Error> {
        let mut roots = RootCertStore::empty();
        roots.add(known.clone()).unwrap();
        let verifier = Verifier {
            trust: Some(Trust { roots, certificates: vec![known.clone()] }),
            check_name,
            algorithms: ring::default_provider().signature_verification_algorithms,
        };
        let host = ServerName::try_from(host.to_owned()).unwrap();
        verifier.verify_server_cert(shown, &[], &host, &[], UnixTime::now()).map(|_| ())
    }

    #[test]
    fn a_self_signed_certificate_named_by_the_user_is_trusted() {
        for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
            let certificate = self_signed(is_ca);
            assert_eq!(verify(&certificate, &certificate, true, "db.test"), Ok(()));
        }
    }

    #[test]
    fn a_named_certificate_still_has_to_be_for_the_host() {
        let certificate = self_signed(IsCa::Ca(BasicConstraints::Unconstrained));
        let error = verify(&certificate, &certificate, true, "other.test").unwrap_err();
        assert!(
            matches!(error, Error::InvalidCertificate(CertificateError::NotValidForNameContext { .. })),
            "{error:?}"
        );
        assert_eq!(verify(&certificate, &certificate, false, "other.test"), Ok(()));
    }

    #[test]
    fn another_self_signed_certificate_is_not_trusted() {
        let (known, shown) = (self_signed(IsCa::NoCa), self_signed(IsCa::NoCa));
        assert!(matches!(verify(&known, &shown, false, "db.test"), Err(Error::InvalidCertificate(_))));
    }
}
