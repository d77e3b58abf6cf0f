//! How many files mindful may have open: each session has one or more.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes as many as the user may have: the usual limit of 1,024 is meant for programs of another kind.
pub fn take_all() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Where it is refused the old limit stays, and the session it concerns tells so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
