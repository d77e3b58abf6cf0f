use mindful_core::record::run::Point;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Next {
    Step(Point),
    Over(String),
    /// The sweep is over without an answer; in words, why.
    Undecided(String),
}
