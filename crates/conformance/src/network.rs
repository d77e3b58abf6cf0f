//! Tests that need the network.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use crate::not_run::not_run;

/// Time limit for a host's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether `url` is reachable. If not, prints that the calling test did not run.
pub fn network(url: &str) -> bool {
    let way = first_on_the_way(url, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let open = answers(&way);
    if !open {
        not_run(&format!("{way} is not reachable from here"));
    }
    open
}

/// Host and port of a connection to `url`: the proxy's, if the variables name one.
fn first_on_the_way(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let proxies = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let url = proxies.into_iter().find_map(variable).unwrap_or_else(|| url.to_owned());
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", &url));
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "https" { 443 } else { 80 };
    if has_port { host.to_owned() } else { format!("{host}:{port}") }
}

fn answers(way: &str) -> bool {
    let addresses = way.to_socket_addrs().into_iter().flatten();
    addresses.into_iter().any(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_configured_proxy_is_used() {
        let none = |_: &str| None;
        assert_eq!(first_on_the_way("https://archive.example/maven2", &none), "archive.example:443");
        assert_eq!(first_on_the_way("http://archive.example:8080/x", &none), "archive.example:8080");
        let proxy = |name: &str| (name == "https_proxy").then(|| "http://me:secret@proxy.example:3128".to_owned());
        assert_eq!(first_on_the_way("https://archive.example/maven2", &proxy), "proxy.example:3128");
    }

    #[test]
    fn a_reachable_server_is_found_and_another_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let way = listener.local_addr().unwrap().to_string();
        assert!(answers(&way));
        drop(listener);
        assert!(!answers(&way) && !answers("no-such-host.invalid:443"));
    }
}
