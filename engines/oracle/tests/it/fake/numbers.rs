//! Reads the numbers from the engine's texts, so that the rendered text decides.

pub(super) fn after(text: &str, before: &str) -> Option<u64> {
    let rest = text.split_once(before)?.1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

pub(super) fn word_after(text: &str, before: &str) -> Option<String> {
    let rest = text.split_once(before)?.1;
    let word: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    (!word.is_empty()).then_some(word)
}

/// Keys in the order in which a CREATE TABLE AS SELECT writes them, by its own arithmetic.
pub(super) fn keys(sql: &str) -> Vec<u64> {
    let lefts = after(sql, "CONNECT BY LEVEL <= ").expect("the left half");
    let rights = after(sql, "SELECT l * ").expect("the right half");
    let blocks = after(sql, "WHERE k <= ").expect("the last key");
    // The first round is innermost, and so last.
    let rounds: Vec<(bool, u64, u64)> = sql.split("MOD(MOD((").skip(1).map(round).collect();
    let mut keys = Vec::new();
    for (l, r) in (0..lefts).flat_map(|l| (0..rights).map(move |r| (l, r))) {
        let (mut l, mut r) = (l, r);
        for (of_right, plus, times) in rounds.iter().rev() {
            let half = if *of_right { r } else { l };
            let scrambled = (half + plus) * (half + plus) % 2_147_483_647 * times % 2_147_483_629;
            if *of_right {
                l = (l + scrambled) % lefts;
            } else {
                r = (r + scrambled) % rights;
            }
        }
        let key = l * rights + r + 1;
        if key <= blocks {
            keys.push(key);
        }
    }
    keys
}

/// `r + 5) * (r + 5), 2147483647) * 7, …` as whether it scrambles the right half, 5 and 7.
fn round(text: &str) -> (bool, u64, u64) {
    let plus = after(text, " + ").expect("what is added");
    let times = after(text, "2147483647) * ").expect("what is multiplied");
    (text.starts_with('r'), plus, times)
}

/// Spearman's correlation of two orders of the same ranks.
pub(super) fn correlation(pairs: impl Iterator<Item = (f64, f64)>, count: usize) -> f64 {
    let n = count as f64;
    let squares: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}
