//! Oracle Database, *experimental*: it was built without an Oracle server. README.md describes its substitute, and the
//! limits of the substitute.

mod checks;
pub mod codes;
mod connect;
mod dataset;
pub mod names;
mod observe;
mod options;
mod target;
mod work;

use std::sync::Arc;

use mindful_core::contract::description::Words;
use mindful_core::contract::engine::{EngineFacts, EngineOptions};
use mindful_core::contract::event::Events;
use mindful_core::plan::settings::Settings;
use mindful_core::{Engine, Error, Result, Target};
use mindful_oracle_terms as oracle;

pub use crate::connect::driver;
pub use crate::work::{bucket, statement};

use crate::connect::Address;
use crate::connect::driver::{Driver, Login};
use crate::connect::link::Link;
use crate::options::{KEYS, Options};
use crate::target::OracleTarget;

#[cfg(feature = "thin")]
pub static ENGINE: Oracle = Oracle::new(&connect::thin::Thin);

pub struct Oracle {
    driver: &'static dyn Driver,
}

impl Oracle {
    pub const fn new(driver: &'static dyn Driver) -> Self {
        Self { driver }
    }
}

impl Engine for Oracle {
    fn facts(&self) -> EngineFacts {
        let summary = "Oracle Database 12c or later, experimental: never yet tried on a real server \
                       (oracle://user@host:1521/service)";
        EngineFacts {
            options: KEYS,
            finding_codes: codes::ALL,
            grants: Some(include_str!("../sql/grants.sql")),
            password_variable: Some(connect::PASSWORD),
            ..EngineFacts::new("oracle", &["oracle"], summary, mindful_sql::CAPABILITIES)
        }
    }

    fn words(&self) -> Words {
        oracle::words()
    }

    fn grant_names(&self, url: &str) -> Result<Vec<(&'static str, String)>> {
        let user = Address::parse(url)?.user;
        let plain = user.starts_with(|c: char| c.is_ascii_alphabetic())
            && user.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let quoted = if plain { user } else { format!("\"{}\"", user.replace('"', "")) };
        Ok(vec![("mindful_bench", quoted)])
    }

    fn redact(&self, url: &str) -> String {
        connect::redact(url)
    }

    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        let options = Options::from_settings(settings)?;
        Ok(Arc::new(OracleOptions { driver: self.driver, address: Address::parse(url)?, options }))
    }
}

struct OracleOptions {
    driver: &'static dyn Driver,
    address: Address,
    options: Options,
}

impl EngineOptions for OracleOptions {
    fn open(&self, _sessions: u32, events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        let (options, address) = (&self.options, &self.address);
        let password = connect::password(&address.user, options.password_file.as_deref())?;
        let wallet_password = connect::of_wallet()?;
        let login = |service: &String| Login {
            address: service.clone(),
            user: address.user.clone(),
            password: password.clone(),
            config: options.tns_admin.clone(),
            wallet: options.wallet.clone(),
            wallet_password: wallet_password.clone(),
            within: options.connect_timeout,
        };
        let link = Link::new(self.driver, address.services.iter().map(login).collect());
        let opened = OracleTarget::open(link, options.clone(), events);
        Ok(Box::new(opened.map_err(Error::of_target)?))
    }
}
