//! Parameters of every session, on any endpoint.

use std::time::Duration;

use mindful_core::Result;
use tokio_postgres::Config;
use tokio_postgres::config::ChannelBinding;

use super::given::Parameters;
use super::tls;

pub(super) const APPLICATION_NAME: &str = "mindful";

/// A server that has not answered in this time is not there.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// With these a vanished server is noticed in about a minute; the system's defaults take hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_COUNT: u32 = 3;
/// The same where something was sent and is never acknowledged: a network that is cut.
const UNACKNOWLEDGED: Duration = Duration::from_mins(1);

/// The driver's configuration for sessions of `user` on `dbname`, without host and password.
pub(super) fn config(user: &str, dbname: &str) -> Config {
    let mut config = Config::new();
    config
        .user(user)
        .dbname(dbname)
        .application_name(APPLICATION_NAME)
        .keepalives_idle(KEEPALIVE_IDLE)
        .keepalives_interval(KEEPALIVE_INTERVAL)
        .keepalives_retries(KEEPALIVE_COUNT)
        .tcp_user_timeout(UNACKNOWLEDGED);
    config
}

pub(super) fn apply(config: &mut Config, parameters: &Parameters) -> Result<()> {
    if let Some(name) = parameters.text("application_name")?.or(parameters.text("fallback_application_name")?) {
        config.application_name(name);
    }
    if let Some(options) = parameters.text("options")? {
        config.options(options);
    }
    let bindings = [
        ("disable", ChannelBinding::Disable),
        ("prefer", ChannelBinding::Prefer),
        ("require", ChannelBinding::Require),
    ];
    if let Some(binding) = parameters.choice("channel_binding", &bindings)? {
        config.channel_binding(binding);
    }
    config.ssl_negotiation(tls::negotiation(parameters)?);
    apply_keepalives(config, parameters)
}

fn apply_keepalives(config: &mut Config, parameters: &Parameters) -> Result<()> {
    let seconds = |key| parameters.number(key, "a whole number of seconds").map(|s: Option<u32>| s.filter(|s| *s > 0));
    if let Some(on) = parameters.choice("keepalives", &[("1", true), ("0", false)])? {
        config.keepalives(on);
    }
    if let Some(idle) = seconds("keepalives_idle")? {
        config.keepalives_idle(Duration::from_secs(idle.into()));
    }
    if let Some(interval) = seconds("keepalives_interval")? {
        config.keepalives_interval(Duration::from_secs(interval.into()));
    }
    if let Some(count) = parameters.number("keepalives_count", "a whole number")?.filter(|count| *count > 0) {
        config.keepalives_retries(count);
    }
    if let Some(timeout) = parameters.number::<u32>("tcp_user_timeout", "a whole number of milliseconds")? {
        config.tcp_user_timeout(Duration::from_millis(timeout.into()));
    }
    Ok(())
}

/// Time limit of a connection attempt; `None` for unlimited, which libpq writes as 0 or less.
pub(super) fn connect_timeout(parameters: &Parameters) -> Result<Option<Duration>> {
    let seconds = parameters.number::<i32>("connect_timeout", "a whole number of seconds")?;
    Ok(match seconds.map(u64::try_from) {
        None => Some(CONNECT_TIMEOUT),
        Some(Ok(seconds)) if seconds > 0 => Some(Duration::from_secs(seconds)),
        Some(_) => None,
    })
}
