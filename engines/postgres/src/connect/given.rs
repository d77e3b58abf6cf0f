//! The values of connection parameters: from URL, service file and environment.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;

use mindful_core::plan::settings;
use mindful_core::{Error, Result};
use mindful_sql::connect::environment::Environment;
use mindful_sql::connect::url::decode;

use super::parameter::{PARAMETERS, Parameter, Role};
use super::service;
use super::url::Parts;

#[derive(Clone, PartialEq, Eq)]
enum Origin {
    Url,
    Service(String),
    Variable(&'static str),
}

/// A value; its bytes may be a secret, so it has no `Debug`.
#[derive(Clone)]
struct Given {
    bytes: Vec<u8>,
    origin: Origin,
}

/// Values by key. An empty value counts as missing.
#[derive(Clone, Default)]
pub(super) struct Parameters(BTreeMap<&'static str, Given>);

impl Parameters {
    /// All values for a connection to the URL of `parts`: URL before service file before environment.
    pub(super) fn collect(parts: &Parts<'_>, environment: &Environment) -> Result<Self> {
        let mut parameters = Self::of_url(parts)?;
        for known in PARAMETERS.iter().filter(|known| known.key.starts_with("service")) {
            parameters.fill_from_variable(known, environment);
        }
        if let Some(name) = parameters.text("service")?.map(str::to_owned) {
            let file = parameters.text("servicefile")?.map(str::to_owned);
            for (key, value) in service::read(&name, file.as_deref(), environment)? {
                let known = Parameter::known(&key, &format!("service `{name}`"))?;
                parameters.fill(known, value.into_bytes(), Origin::Service(name.clone()));
            }
        }
        for known in PARAMETERS {
            parameters.fill_from_variable(known, environment);
        }
        parameters.refuse()?;
        Ok(parameters)
    }

    fn of_url(parts: &Parts<'_>) -> Result<Self> {
        let mut parameters = Self::default();
        let mut set = |key: &'static str, text: &str| -> Result<()> {
            let bytes = decode(text, key)?;
            parameters.0.insert(key, Given { bytes, origin: Origin::Url });
            Ok(())
        };
        let list = |part: fn(&(&str, &str)) -> String| parts.hosts.iter().map(part).collect::<Vec<_>>().join(",");
        let (hosts, numbers) = (list(|(host, _)| (*host).to_owned()), list(|(_, port)| (*port).to_owned()));
        // A list of commas names as many default hosts, so it counts as set.
        set("host", &hosts)?;
        set("port", if numbers.chars().all(|c| c == ',') { "" } else { &numbers })?;
        set("user", parts.user.unwrap_or_default())?;
        set("password", parts.password.unwrap_or_default())?;
        set("dbname", parts.dbname.unwrap_or_default())?;
        for (key, value) in &parts.parameters {
            let key = String::from_utf8_lossy(&decode(key, "name of a parameter")?).into_owned();
            // The spelling that JDBC URLs brought along, which libpq takes too.
            let (key, value) =
                if (key.as_str(), *value) == ("ssl", "true") { ("sslmode", "require") } else { (&*key, *value) };
            set(Parameter::known(key, "target URL")?.key, value)?;
        }
        Ok(parameters)
    }

    fn fill_from_variable(&mut self, known: &'static Parameter, environment: &Environment) {
        if let Some(value) = environment.variable(known.variable) {
            self.fill(known, value.as_bytes().to_vec(), Origin::Variable(known.variable));
        }
    }

    /// Sets a value that no higher layer gave.
    fn fill(&mut self, known: &'static Parameter, bytes: Vec<u8>, origin: Origin) {
        let free = self.0.get(known.key).is_none_or(|given| given.bytes.is_empty());
        if free {
            self.0.insert(known.key, Given { bytes, origin });
        }
    }

    fn refuse(&self) -> Result<()> {
        for known in PARAMETERS {
            if let (Role::Refused(next), true) = (known.role, self.given(known.key)) {
                return Err(Error::plan(format!("{} is not supported", self.place(known.key)), next));
            }
        }
        Ok(())
    }

    pub(super) fn given(&self, key: &str) -> bool {
        self.bytes(key).is_some()
    }

    pub(super) fn bytes(&self, key: &str) -> Option<&[u8]> {
        self.0.get(key).map(|given| given.bytes.as_slice()).filter(|bytes| !bytes.is_empty())
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&str>> {
        self.bytes(key)
            .map(|bytes| {
                std::str::from_utf8(bytes)
                    .map_err(|_| Error::plan(format!("{} is not UTF-8", self.place(key)), "write it in UTF-8"))
            })
            .transpose()
    }

    pub(super) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        self.text(key)?
            .map(|text| settings::parse_choice(text, choices).map_err(|error| error.at(self.place(key))))
            .transpose()
    }

    /// The value of `key` as a whole number; `what` describes the allowed ones.
    pub(super) fn number<T: FromStr>(&self, key: &str, what: &str) -> Result<Option<T>> {
        self.text(key)?
            .map(|text| {
                text.trim().parse().map_err(|_| {
                    Error::plan(format!("{}: `{text}` is not {what}", self.place(key)), format!("give {what}"))
                })
            })
            .transpose()
    }

    /// Name of `key` in messages, with its source.
    pub(super) fn place(&self, key: &str) -> String {
        match self.0.get(key).map(|given| &given.origin) {
            Some(Origin::Variable(variable)) => (*variable).to_owned(),
            Some(Origin::Service(name)) => format!("{key} of service `{name}`"),
            Some(Origin::Url) => format!("{key} in the target URL"),
            None => key.to_owned(),
        }
    }
}
