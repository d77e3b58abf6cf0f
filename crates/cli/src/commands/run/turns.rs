//! Runs that are made in turn: which one is next, and how long those to come take.

use std::time::{Duration, Instant};

use mindful_runner::estimate::Estimate;

pub(crate) struct Turns {
    all: u32,
    begun: u32,
    began: Instant,
}

impl Turns {
    pub(crate) fn new(all: u32) -> Self {
        Self { all, begun: 0, began: Instant::now() }
    }

    /// The line before the next run, of the plan `name`. The runs that ended predict the time of the others.
    pub(crate) fn next_line(&mut self, name: Option<&str>) -> String {
        self.line(name, self.began.elapsed())
    }

    fn line(&mut self, name: Option<&str>, elapsed: Duration) -> String {
        let (ended, count) = (self.begun, self.all - self.begun);
        self.begun += 1;
        let name = name.map_or_else(String::new, |name| format!(" ({name})"));
        let run = format!("run {} of {}{name}", self.begun, self.all);
        if ended == 0 {
            return run;
        }
        let left = Estimate { what: "run", count, time: elapsed / ended * count, at_most: false };
        format!("{run}; left: {left}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_ended_predict_the_time_of_those_to_come() {
        let mut turns = Turns::new(4);
        let mut line = |elapsed_s| turns.line(Some("a.toml"), Duration::from_secs(elapsed_s));
        assert_eq!(line(0), "run 1 of 4 (a.toml)");
        assert_eq!(line(12), "run 2 of 4 (a.toml); left: 3 runs, about 36 s");
        line(20);
        assert_eq!(line(30), "run 4 of 4 (a.toml); left: 1 run, about 10 s");
    }
}
