//! A certificate authority made on the spot, and certificates signed by it.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// A certificate and its key, both as PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// A certificate authority.
pub struct Authority {
    pub certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// A certificate whose subject is `common_name`, for the hosts in `names`.
    pub fn sign(&self, common_name: &str, names: &[&str]) -> Pair {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, common_name);
        let key = KeyPair::generate().unwrap();
        Pair { certificate: params.signed_by(&key, &self.issuer).unwrap().pem(), key: key.serialize_pem() }
    }
}
