//! A made-up Oracle behind the driver's four calls: it knows the engine's texts by their names, reads their content,
//! and answers like a server. It shows only that the engine agrees with itself.

pub(super) mod database;
mod numbers;
pub(super) mod relay;
pub(super) mod slice;
mod views;
pub(super) mod wire;

use std::sync::Arc;

use mindful_oracle::driver::{Bind, Connection, Done, Driver, Failure, Login, Row};
use std::time::Duration;

pub(super) use database::Database;

pub(super) const PASSWORD: &str = "tiger";

/// Connects to made-up databases: the one that a service is named after.
pub(super) struct Fake;

impl Driver for Fake {
    fn connect(&self, login: &Login) -> Result<Box<dyn Connection>, Failure> {
        let Some((_, service)) = login.address.rsplit_once('/') else {
            return Err(Failure::Address(format!("`{}` cannot be read", login.address)));
        };
        let Some(database) = Database::named(service) else {
            let text = format!("service \"{service}\" is not registered. (Similar to ORA-12514)");
            return Err(Failure::Listener { code: Some(12_514), text });
        };
        if login.password != PASSWORD {
            return Err(server(1_017, "invalid username/password; logon denied"));
        }
        Ok(Box::new(database.connect()?))
    }
}

pub(super) fn server(code: u32, text: &str) -> Failure {
    Failure::Server { code, text: format!("ORA-{code:05}: {text}") }
}

pub(super) struct Session {
    pub database: Arc<Database>,
    pub sid: u64,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.database.disconnect(self.sid);
    }
}

impl Connection for Session {
    fn execute(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Result<Done, Failure> {
        self.database.note_patience(sql, within);
        self.database.execute(self.sid, sql, &Binds(binds))
    }

    fn query(&mut self, sql: &str, binds: &[(&'static str, Bind)], within: Duration) -> Result<Vec<Row>, Failure> {
        self.database.note_patience(sql, within);
        self.database.query(self.sid, sql, &Binds(binds))
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.database.commit(self.sid);
        Ok(())
    }
}

pub(super) struct Binds<'a>(pub &'a [(&'a str, Bind)]);

impl Binds<'_> {
    /// The value of the bind called `name`, which `of` takes out.
    fn get<T>(&self, name: &str, of: impl Fn(&Bind) -> Option<T>) -> T {
        let bind = self.0.iter().find(|(known, _)| *known == name).map(|(_, bind)| bind);
        bind.and_then(of).unwrap_or_else(|| panic!("{name} is {bind:?}"))
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.get(name, |bind| if let Bind::Text(text) = bind { Some(text.clone()) } else { None })
    }

    pub(super) fn integer(&self, name: &str) -> i64 {
        self.get(name, |bind| if let Bind::Integer(number) = bind { Some(*number) } else { None })
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        self.get(name, |bind| if let Bind::Bytes(bytes) = bind { Some(bytes.clone()) } else { None })
    }

    pub(super) fn room(&self, name: &str) -> usize {
        self.get(name, |bind| match bind {
            Bind::Room(length) => Some(*length),
            // Over the wire the text is transmitted.
            Bind::Text(text) => Some(text.len()),
            _ => None,
        })
    }
}
