//! The part after `oracle://`: `USER@ADDRESS`.
//!
//! The address has any form of Oracle's own clients: EZConnect (`host:port/service`, `tcps://host:port/service`), an
//! alias of tnsnames.ora, or a descriptor in brackets. An EZConnect address may have several services, for the
//! instances of a cluster: `host/batch1,batch2` or `host/batch1..4`; aliases likewise, `rac1..4`. `host:port?sid=ORCL`
//! names an instance in the old form.

use mindful_core::plan::secret::{MASK, without_named};
use mindful_core::{Error, Result};

const SCHEME: &str = "oracle:";

const MOST_SERVICES: u32 = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub user: String,
    /// One a service, in the order they are given, each in the driver's form.
    pub services: Vec<String>,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let rest = rest(url);
        let refuse = |what: &str, next: &str| Err(Error::plan(format!("target `{}`: {what}", redact(url)), next));
        if rest.chars().any(char::is_control) {
            return refuse("it holds control characters", "write it again: oracle://user@host:1521/service");
        }
        let Some((user, address)) = rest.split_once('@') else {
            return refuse("it names no account", "give oracle://user@host:1521/service");
        };
        if user.contains([':', '/']) {
            return refuse(
                "a password in a URL is visible to all users of this host",
                "remove it, and give it in ORACLE_PASSWORD, with --password-file or at the prompt",
            );
        }
        if user.is_empty() || address.is_empty() {
            return refuse("it lacks account or address", "give oracle://user@host:1521/service");
        }
        Ok(Self { user: user.to_owned(), services: services(address)? })
    }
}

fn rest(url: &str) -> &str {
    let rest = url.strip_prefix(SCHEME).unwrap_or(url);
    rest.strip_prefix("//").unwrap_or(rest)
}

/// The URL without a probable password. Works for any text: without an `@` that ends the account, the text after the
/// first word counts as a password.
pub(crate) fn redact(url: &str) -> String {
    let rest = rest(url);
    let begin = &url[..url.len() - rest.len()];
    let (user, address) = rest.rsplit_once('@').map_or((rest, None), |(user, address)| (user, Some(address)));
    let user = user.split_once([':', '/']).map_or_else(|| user.to_owned(), |(name, _)| format!("{name}:{MASK}"));
    without_named(&format!("{begin}{user}{}", address.map_or_else(String::new, |address| format!("@{address}"))))
}

fn services(address: &str) -> Result<Vec<String>> {
    if address.starts_with('(') {
        return Ok(vec![address.to_owned()]);
    }
    if let Some((host, sid)) = address.split_once("?sid=") {
        return Ok(vec![of_sid(host, sid)?]);
    }
    let (before, parameters) = address.split_once('?').map_or((address, None), |(a, b)| (a, Some(b)));
    let scheme = before.find("://").map_or(0, |at| at + 3);
    // Without a service it is a host, or aliases of tnsnames.ora: `SALES`, `rac1..4`, `one,two`.
    let slash = before[scheme..].find('/').map(|at| at + scheme);
    let (host, names) = slash.map_or(("", before), |slash| before.split_at(slash + 1));
    // A suffix of the service, such as `:pooled` for DRCP, applies to each of them.
    let suffix = slash.and_then(|_| names.find([':', '/'])).unwrap_or(names.len());
    let (names, server) = names.split_at(suffix);
    let behind = parameters.map_or_else(String::new, |parameters| format!("?{parameters}"));
    let names = names.split(',').map(ladder).collect::<Result<Vec<_>>>()?.concat();
    if names.len() > MOST_SERVICES as usize {
        return Err(too_many());
    }
    Ok(names.into_iter().map(|name| format!("{host}{name}{server}{behind}")).collect())
}

fn too_many() -> Error {
    Error::plan(format!("the target names more than {MOST_SERVICES} services"), "name one for each instance")
}

/// `batch2..4` as `batch2`, `batch3`, `batch4`.
fn ladder(name: &str) -> Result<Vec<String>> {
    let Some((first, last)) = name.split_once("..") else { return Ok(vec![name.to_owned()]) };
    let base = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = |text: &str| text.parse::<u32>().ok();
    match (number(&first[base.len()..]), number(last)) {
        (Some(first), Some(last)) if first > last => Err(Error::plan(
            format!("the range of services `{name}` is descending"),
            "write it ascending, such as batch1..4",
        )),
        (Some(first), Some(last)) if last - first >= MOST_SERVICES => Err(too_many()),
        (Some(first), Some(last)) => Ok((first..=last).map(|number| format!("{base}{number}")).collect()),
        _ => Err(Error::plan(format!("`{name}` is not a range of services"), "give them as batch1..4")),
    }
}

fn of_sid(host: &str, sid: &str) -> Result<String> {
    let plain = |text: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || "_$#.-[]".contains(c) || !c.is_ascii();
        !text.is_empty() && text.chars().all(known)
    };
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "1521"));
    if !plain(name) || !plain(sid) || port.parse::<u16>().is_err() {
        return Err(Error::plan(
            format!("`{host}?sid={sid}` is not an address"),
            "give oracle://user@host:1521?sid=ORCL",
        ));
    }
    Ok(format!("(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST={name})(PORT={port}))(CONNECT_DATA=(SID={sid})))"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn services_of(url: &str) -> Vec<String> {
        Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}")).services
    }

    #[test]
    fn an_address_is_handed_on_as_clients_of_oracle_take_it() {
        for address in [
            "db:1521/SALES",
            "db",
            "SALES_ALIAS",
            "tcps://db:2484/sales",
            "db:1521/sales:pooled",
            "tcps://db/sales?wallet_location=/w",
            "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=a)(PORT=1))(CONNECT_DATA=(SERVICE_NAME=x)))",
        ] {
            assert_eq!(services_of(&format!("oracle://bench@{address}")), [address]);
            assert_eq!(services_of(&format!("oracle:bench@{address}")), [address]);
        }
        let sid = services_of("oracle://bench@db:1522?sid=ORCL");
        assert!(sid[0].contains("(HOST=db)(PORT=1522)") && sid[0].contains("(SID=ORCL)"), "{sid:?}");
    }

    #[test]
    fn several_services_are_endpoints_in_order() {
        assert_eq!(services_of("oracle://b@db/x1..3"), ["db/x1", "db/x2", "db/x3"]);
        assert_eq!(services_of("oracle://b@db:1521/one,two"), ["db:1521/one", "db:1521/two"]);
        assert_eq!(services_of("oracle://b@rac1..2"), ["rac1", "rac2"]);
        assert_eq!(services_of("oracle://b@tcps://db/x9..10:pooled"), ["tcps://db/x9:pooled", "tcps://db/x10:pooled"]);
    }

    #[test]
    fn an_invalid_address_is_refused_without_the_password() {
        for (url, part) in [
            ("oracle://db:1521/x", "names no account"),
            ("oracle://me:s3cret@db/x", "--password-file"),
            ("oracle://me/s3cret@db/x", "--password-file"),
            ("oracle://@db/x", "lacks account"),
            ("oracle://me@", "lacks account"),
            ("oracle://me@db/x4..1", "ascending"),
            ("oracle://me@db/x1..999", "more than 256"),
            ("oracle://me@db/a..b", "not a range"),
            ("oracle://me@db)(x?sid=A", "not an address"),
            ("oracle://me@db/\u{1}", "control characters"),
        ] {
            let error = Address::parse(url).expect_err(url).to_string();
            assert!(error.contains(part) && !error.contains("s3cret"), "{url}: {error}");
        }
        assert_eq!(redact("oracle://me:s3cr@t@db/x"), format!("oracle://me:{MASK}@db/x"));
        assert_eq!(redact("oracle://me@db/x"), "oracle://me@db/x");
    }

    #[test]
    fn no_address_is_shown_with_its_password() {
        for (url, shown) in [
            ("oracle://me/s3cret", "oracle://me:…"),
            ("oracle://me:s3cret", "oracle://me:…"),
            ("oracle:me/s3cret", "oracle:me:…"),
            ("oracle://me:s3cret/x", "oracle://me:…"),
            ("me/s3cret", "me:…"),
            ("oracle://me/s3@cret@db/x", "oracle://me:…@db/x"),
            ("oracle://me/s3cret@db@x", "oracle://me:…@x"),
            ("oracle://me@db/x;password=s3cret", "oracle://me@db/x;password=…"),
            ("oracle://me@db/x?ssl=1;wallet_password=s3cret", "oracle://me@db/x?ssl=1;wallet_password=…"),
            ("oracle://user=me;password=s3cret", "oracle://user=me;password=…"),
            ("oracle://me@(ADDRESS=(HOST=db)(PASSWORD=s3cret))", "oracle://me@(ADDRESS=(HOST=db)(PASSWORD=…))"),
            ("oracle://SALES", "oracle://SALES"),
        ] {
            assert_eq!(redact(url), shown);
            let error = Address::parse(url).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!error.contains("s3cret") && !error.contains("cret@"), "{url}: {error}");
        }
    }
}
