//! `require_auth`: which ways of logging in the user accepts, as libpq has it.

use mindful_core::{Error, Result};

use super::given::Parameters;

/// Each method, and its number in a server's request. A login without a request is `none`.
const METHODS: [(&str, &[u32]); 7] = [
    ("none", &[0]),
    ("password", &[3]),
    ("md5", &[5]),
    ("gss", &[7, 8]),
    ("sspi", &[9]),
    // The driver supports no other mechanism of SASL.
    ("scram-sha-256", &[10, 11, 12]),
    ("oauth", &[]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Methods {
    /// One bit a method.
    accepted: u8,
    /// The server has requested one.
    asked: bool,
}

impl Methods {
    pub(super) const ANY: Self = Self { accepted: u8::MAX, asked: false };

    pub(super) fn in_parameters(parameters: &Parameters) -> Result<Self> {
        let Some(text) = parameters.text("require_auth")? else { return Ok(Self::ANY) };
        let wrong = |what: String| {
            let names = METHODS.map(|(name, _)| name).join(", ");
            Error::plan(format!("{}: {what}", parameters.place("require_auth")), format!("give some of {names}"))
        };
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let excludes = words[0].starts_with('!');
        let mut named = 0_u8;
        for word in words {
            if word.starts_with('!') != excludes {
                return Err(wrong(format!("`{word}` mixes methods with excluded ones")));
            }
            let name = word.strip_prefix('!').unwrap_or(word);
            let bit = METHODS.iter().position(|(known, _)| *known == name);
            let bit = bit.ok_or_else(|| wrong(format!("`{word}` is not a method")))?;
            if named & 1 << bit != 0 {
                return Err(wrong(format!("`{word}` is given twice")));
            }
            named |= 1 << bit;
        }
        Ok(Self { accepted: if excludes { !named } else { named }, asked: false })
    }

    /// Whether a password may be sent as it is.
    pub(super) fn accept_clear_text(self) -> bool {
        self.accepts("password")
    }

    fn accepts(self, name: &str) -> bool {
        METHODS.iter().zip(0..).any(|((known, _), bit)| *known == name && self.accepted & 1 << bit != 0)
    }

    /// Checks a request of the server for a login, or its end; fails with the name of a method that is not accepted.
    pub(super) fn check(&mut self, request: &[u8]) -> Result<(), &'static str> {
        let Some(number) = request.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)) else { return Ok(()) };
        if number == 0 && self.asked {
            return Ok(());
        }
        self.asked = true;
        let method = METHODS.iter().find(|(_, numbers)| numbers.contains(&number)).map(|(name, _)| *name);
        method.filter(|name| !self.accepts(name)).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use mindful_sql::connect::environment::Environment;

    use super::super::url;
    use super::*;

    fn methods(value: &str) -> Result<Methods> {
        let environment = Environment::default().with("PGREQUIREAUTH", value);
        Methods::in_parameters(&Parameters::collect(&url::split("postgres://db/x")?, &environment)?)
    }

    #[test]
    fn methods_are_named_or_excluded_as_for_libpq() {
        let asked = |value: &str, numbers: &[u32]| -> Result<(), &str> {
            let mut methods = methods(value).unwrap();
            numbers.iter().try_for_each(|number| methods.check(&number.to_be_bytes()))
        };
        for (value, numbers, refused) in [
            ("", &[3, 0][..], None),
            ("scram-sha-256", &[10, 11, 12, 0], None),
            ("scram-sha-256", &[3], Some("password")),
            ("scram-sha-256", &[0], Some("none")),
            ("scram-sha-256,none", &[0], None),
            ("!password,!md5", &[5], Some("md5")),
            ("!password,!md5", &[10, 11, 12, 0], None),
        ] {
            assert_eq!(asked(value, numbers).err(), refused, "{value} {numbers:?}");
        }
        assert!(!methods("!password").unwrap().accept_clear_text() && methods("!md5").unwrap().accept_clear_text());
    }

    #[test]
    fn parameters_that_libpq_refuses_are_refused() {
        for value in ["scram", "password,!md5", "!md5,password", "md5,md5", "md5,", "!!md5"] {
            let refused = methods(value).err().map(|error| error.to_string());
            assert!(refused.as_ref().is_some_and(|line| line.contains("PGREQUIREAUTH")), "{value}: {refused:?}");
        }
    }
}
