//! The connection parameters of libpq, by key and variable.

use mindful_core::plan::settings;
use mindful_core::{Error, Result};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Used,
    /// Honoured, and never shown.
    Secret,
    /// Makes no difference here, and is let pass.
    Ignored,
    /// Would make a difference that mindful cannot make; why.
    Refused(&'static str),
}
use Role::{Ignored, Refused, Secret, Used};

pub(super) struct Parameter {
    pub(super) key: &'static str,
    /// Environment variable; empty without one.
    pub(super) variable: &'static str,
    pub(super) role: Role,
}

const fn parameter(key: &'static str, variable: &'static str, role: Role) -> Parameter {
    Parameter { key, variable, role }
}

const NO_CRL: &str = "revocation lists are not read; omit it, or check revocation on the server's side";
const TLS_VERSIONS: &str = "mindful uses TLS 1.2 or 1.3, the higher one that both sides support; omit it";

/// All that libpq 18 takes. The first column is the key in a URL or service file.
pub(super) const PARAMETERS: &[Parameter] = &[
    parameter("application_name", "PGAPPNAME", Used),
    parameter("channel_binding", "PGCHANNELBINDING", Used),
    parameter("client_encoding", "PGCLIENTENCODING", Ignored),
    parameter("connect_timeout", "PGCONNECT_TIMEOUT", Used),
    parameter("dbname", "PGDATABASE", Used),
    parameter("fallback_application_name", "", Used),
    parameter("gssdelegation", "PGGSSDELEGATION", Ignored),
    parameter("gssencmode", "PGGSSENCMODE", Used),
    parameter("gsslib", "PGGSSLIB", Ignored),
    parameter("host", "PGHOST", Used),
    parameter("hostaddr", "PGHOSTADDR", Used),
    parameter("keepalives", "", Used),
    parameter("keepalives_count", "", Used),
    parameter("keepalives_idle", "", Used),
    parameter("keepalives_interval", "", Used),
    parameter("krbsrvname", "PGKRBSRVNAME", Ignored),
    parameter("load_balance_hosts", "PGLOADBALANCEHOSTS", Used),
    parameter("max_protocol_version", "PGMAXPROTOCOLVERSION", Ignored),
    parameter("min_protocol_version", "PGMINPROTOCOLVERSION", Refused("mindful uses protocol 3.0; omit it")),
    parameter("oauth_client_id", "", Refused("log in by password or certificate")),
    parameter("oauth_client_secret", "", Refused("log in by password or certificate")),
    parameter("oauth_issuer", "", Refused("log in by password or certificate")),
    parameter("oauth_scope", "", Refused("log in by password or certificate")),
    parameter("options", "PGOPTIONS", Used),
    parameter("passfile", "PGPASSFILE", Used),
    parameter("password", "PGPASSWORD", Secret),
    parameter("port", "PGPORT", Used),
    parameter("replication", "", Refused("mindful works in ordinary sessions")),
    parameter("require_auth", "PGREQUIREAUTH", Used),
    parameter("requirepeer", "PGREQUIREPEER", Refused("leave it out")),
    parameter("requiressl", "PGREQUIRESSL", Refused("write sslmode=require")),
    parameter("service", "PGSERVICE", Used),
    parameter("servicefile", "PGSERVICEFILE", Used),
    parameter("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", Refused(TLS_VERSIONS)),
    parameter("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", Used),
    parameter("sslcert", "PGSSLCERT", Used),
    parameter("sslcertmode", "PGSSLCERTMODE", Used),
    parameter("sslcompression", "PGSSLCOMPRESSION", Ignored),
    parameter("sslcrl", "PGSSLCRL", Refused(NO_CRL)),
    parameter("sslcrldir", "PGSSLCRLDIR", Refused(NO_CRL)),
    parameter("sslkey", "PGSSLKEY", Used),
    parameter("sslkeylogfile", "", Refused("it would write the session's keys; omit it")),
    parameter("sslmode", "PGSSLMODE", Used),
    parameter("sslnegotiation", "PGSSLNEGOTIATION", Used),
    parameter("sslpassword", "", Secret),
    parameter("sslrootcert", "PGSSLROOTCERT", Used),
    parameter("sslsni", "PGSSLSNI", Used),
    parameter("target_session_attrs", "PGTARGETSESSIONATTRS", Used),
    parameter("tcp_user_timeout", "", Used),
    parameter("user", "PGUSER", Used),
];

impl Parameter {
    pub(super) fn find(key: &str) -> Option<&'static Self> {
        PARAMETERS.iter().find(|parameter| parameter.key == key)
    }

    /// The same, where `place` must name one that is known.
    pub(super) fn known(key: &str, place: &str) -> Result<&'static Self> {
        Self::find(key).ok_or_else(|| {
            let next = match settings::nearest(key, PARAMETERS.iter().map(|known| known.key)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "it takes libpq's parameters: sslmode, connect_timeout, application_name and so on".to_owned(),
            };
            Error::plan(format!("{place}: unknown parameter `{key}`"), next)
        })
    }

    pub(super) fn secret(&self) -> bool {
        self.role == Secret
    }
}
