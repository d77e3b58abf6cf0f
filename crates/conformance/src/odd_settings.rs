//! Settings that others can make for our sessions.

use mindful_core::Result;

/// Runs with all of these settings (`NAME = VALUE`), and searches for those that prevent it. The error has to name each of
/// them. Returns their names.
pub fn refused_settings(settings: &[String], runs: &dyn Fn(&[String]) -> Result<()>) -> Vec<String> {
    let Err(error) = runs(settings) else { return Vec::new() };
    if let [setting] = settings {
        let name = setting.split(' ').next().unwrap_or_default();
        let words = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
        assert!(words(&error.to_string()).contains(&words(name)), "{setting} is not named: {error}");
        return vec![name.to_owned()];
    }
    let (half, rest) = settings.split_at(settings.len() / 2);
    let names = [half, rest].map(|part| refused_settings(part, runs)).concat();
    assert!(!names.is_empty(), "only together {settings:?} fail: {error}");
    names
}
