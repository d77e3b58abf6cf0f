//! The cost of waking: with any number of sessions, each is woken only for its own events.

use std::time::Duration;

use crate::simulation::Simulation;

/// Polls of each of so many sessions in a run that is stopped in the middle.
fn polls_of_each(sessions: u64) -> f64 {
    let simulation = Simulation::new();
    simulation.stop_at(Duration::from_millis(3_500));
    let count = sessions.to_string();
    let given = [("sessions", &*count), ("duration", "10s"), ("null_latency", "50ms"), ("null_spread", "0.5")];
    let ended = simulation.run(&given);
    assert!(ended.interrupted && ended.error.is_none());
    simulation.clock.polls() as f64 / sessions as f64
}

#[test]
fn ending_wakes_each_session_as_often_among_many_as_among_few() {
    let (few, many) = (polls_of_each(32), polls_of_each(256));
    assert!(many < few * 2.0, "{few:.1} polls of each of 32 sessions, {many:.1} for each of 256");
}
