//! Several processes that share one run: which [`rank`] a process is, where ranks meet ([`meeting`]), which targets and
//! sessions each has ([`assignment`]), and how their parts become one run ([`rank_merge`], [`target_totals`]).

pub mod assignment;
pub mod rank;
pub mod rank_merge;
pub mod rendezvous;
pub mod target_totals;
