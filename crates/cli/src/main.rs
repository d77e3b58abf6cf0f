//! mindful
fn main() {}
