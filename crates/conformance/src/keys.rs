//! A certificate authority made on the spot, and certificates signed by it.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

/// A certificate and its key, both as PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

pub struct Authority {
    /// Its own certificate, as PEM.
    pub certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate").pem();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// A certificate with the subject `common_name`, for the hosts in `names`.
    pub fn sign(&self, common_name: &str, names: &[&str]) -> Pair {
        self.signed(common_name, names, |_| {})
    }

    /// The same, which ended in 2001.
    pub fn sign_expired(&self, common_name: &str, names: &[&str]) -> Pair {
        self.signed(common_name, names, |params| {
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(2001, 1, 1);
        })
    }

    fn signed(&self, common_name: &str, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Pair {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("names of hosts");
        params.distinguished_name.push(DnType::CommonName, common_name);
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate").pem();
        Pair { certificate, key: key.serialize_pem() }
    }
}
