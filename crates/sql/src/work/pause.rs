//! A think time in progress. It lasts until the next operation can begin, and may outlast its slice: the next one
//! reports the part after the boundary.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    /// Reported up to this instant, us since the epoch; 0 for no pause, as is the other.
    pub since_us: i64,
    /// No operation begins before this instant.
    pub until_us: i64,
}
