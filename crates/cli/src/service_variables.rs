//! Variables that Kubernetes sets in every container for each service of its namespace, in the form of Docker's links.
//! Those of a service called `mindful` or `mindful-db` resemble plan keys.

/// Whether `name` with this `value` is such a variable. Both have to match, so that a mistyped key is still refused.
pub(crate) fn is_one(name: &str, value: &str) -> bool {
    let parts: Vec<&str> = name.split('_').collect();
    (1..parts.len()).any(|at| fits(&parts[at..], value))
}

/// Whether the part after the service's name, split at `_`, and the value match.
fn fits(parts: &[&str], value: &str) -> bool {
    let port = |text: &str| text.parse::<u16>().is_ok();
    let address = |text: &str| text.parse::<std::net::IpAddr>().is_ok();
    let protocol = |text: &str| ["tcp", "udp", "sctp"].contains(&text);
    let url = |text: &str| text.split_once("://").is_some_and(|(scheme, _)| protocol(scheme));
    match parts {
        ["SERVICE", "HOST"] => address(value),
        ["SERVICE", "PORT", ..] => port(value),
        ["PORT"] => url(value),
        ["PORT", number, by, rest @ ..] if port(number) && protocol(&by.to_lowercase()) => match rest {
            [] => url(value),
            ["PROTO"] => protocol(value),
            ["PORT"] => port(value),
            ["ADDR"] => address(value),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_family_of_a_service_is_known_by_name_and_value() {
        for (name, value) in [
            ("MINDFUL_SERVICE_HOST", "10.0.0.11"),
            ("MINDFUL_SERVICE_PORT", "5432"),
            ("MINDFUL_SERVICE_PORT_HTTP_API", "8080"),
            ("MINDFUL_PORT", "tcp://10.0.0.11:5432"),
            ("MINDFUL_PORT_5432_TCP", "tcp://10.0.0.11:5432"),
            ("MINDFUL_PORT_5432_TCP_PROTO", "tcp"),
            ("MINDFUL_PORT_5432_TCP_PORT", "5432"),
            ("MINDFUL_PORT_53_UDP_ADDR", "fd00::11"),
            ("MINDFUL_BENCH_DB_SERVICE_HOST", "fd00::11"),
        ] {
            assert!(is_one(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("MINDFUL_PORT", "5432"),
            ("MINDFUL_SERVICE_HOST", "db.example"),
            ("MINDFUL_SERVICE", "1"),
            ("MINDFUL_WORK_UNT", "64"),
            ("MINDFUL_PORT_5432_TCP_NAME", "x"),
        ] {
            assert!(!is_one(name, value), "{name}={value}");
        }
    }
}
