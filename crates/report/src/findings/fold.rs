//! Evidence of one kind of finding from many steps, in one line: the steps it is true of, and from which figure to which.

use mindful_core::result::Finding;

use crate::grouped;
use crate::style::Detail;

/// The evidence of `findings`, all of one code: the wordings of most steps, one in short, and the number of others.
pub(crate) fn evidence(findings: &[&Finding], detail: Detail) -> String {
    let parts = findings.iter().map(|finding| {
        let (step, text) = split_step(&finding.evidence);
        let (around, figures) = taken_apart(text);
        (around, (step, figures))
    });
    let mut wordings = grouped(parts);
    wordings.sort_by_key(|(_, same)| std::cmp::Reverse(same.len()));
    let shown = match detail {
        Detail::Short => 1,
        Detail::Full => 3,
    };
    let left: usize = wordings.iter().skip(shown).map(|(_, same)| same.len()).sum();
    let mut texts: Vec<_> = wordings.iter().take(shown).map(|(around, same)| wording_text(around, same)).collect();
    if left > 0 {
        texts.push(format!("and {left} more"));
    }
    texts.join("; ")
}

/// The common part of two texts that differ only in their figures.
pub(crate) fn wording(text: &str) -> Vec<String> {
    taken_apart(text).0
}

/// `step 3: evidence` as step and evidence.
fn split_step(evidence: &str) -> (Option<u32>, &str) {
    let parts = evidence.strip_prefix("step ").and_then(|rest| rest.split_once(": "));
    match parts.and_then(|(number, rest)| Some((number.parse().ok()?, rest))) {
        Some((step, rest)) => (Some(step), rest),
        None => (None, evidence),
    }
}

/// The text around the figures of `text`, and these. The id of a process is no figure.
fn taken_apart(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut around, mut figures) = (vec![String::new()], Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = figure_at(rest);
        let last = around.last_mut().unwrap_or_else(|| unreachable!("there is always a text"));
        let inside_word = last.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        if length == 0 || inside_word || last.ends_with("pid ") {
            let taken = length.max(first.len_utf8());
            last.push_str(&rest[..taken]);
            rest = &rest[taken..];
        } else {
            figures.push(rest[..length].to_owned());
            around.push(String::new());
            rest = &rest[length..];
        }
    }
    (around, figures)
}

/// Bytes of the figure that `text` begins with: digits, perhaps in groups of thousands, perhaps with decimals.
fn figure_at(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(0);
    if length == 0 {
        return 0;
    }
    while text[length..].starts_with(',') && digits(length + 1) == 3 {
        length += 4;
    }
    if text[length..].starts_with('.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    length
}

/// The text of findings that differ in steps and figures, from the smallest figure to the largest as they were written.
fn wording_text(around: &[String], same: &[(Option<u32>, Vec<String>)]) -> String {
    let mut text = match steps(same.iter().filter_map(|(step, _)| *step).collect()) {
        steps if steps.is_empty() => String::new(),
        steps => format!("{steps}: "),
    };
    let value = |text: &&String| text.replace(',', "").parse().unwrap_or(0.0_f64);
    for (at, around) in around.iter().enumerate() {
        text.push_str(around);
        let figures = || same.iter().filter_map(|(_, figures)| figures.get(at));
        let least = figures().reduce(|a, b| if value(&b) < value(&a) { b } else { a });
        let most = figures().reduce(|a, b| if value(&b) > value(&a) { b } else { a });
        match least.zip(most) {
            Some((least, most)) if least == most => text.push_str(least),
            Some((least, most)) => text.extend([least, " to ", most]),
            None => {}
        }
    }
    text
}

/// `step 3`, `steps 1 to 4, 6`.
fn steps(mut steps: Vec<u32>) -> String {
    steps.sort_unstable();
    steps.dedup();
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for step in &steps {
        match spans.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*step) => *last = *step,
            _ => spans.push((*step, *step)),
        }
    }
    let span = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    match steps.len() {
        0 => String::new(),
        1 => format!("step {}", steps[0]),
        _ => format!("steps {}", spans.iter().map(span).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::result::finding::Severity;

    use super::*;

    fn folded(evidence: &[&str]) -> String {
        let finding = |evidence: &&str| Finding {
            code: "made".into(),
            severity: Severity::Info,
            text: String::new(),
            evidence: (*evidence).into(),
        };
        let all: Vec<_> = evidence.iter().map(finding).collect();
        super::evidence(&all.iter().collect::<Vec<_>>(), Detail::Full)
    }

    #[test]
    fn figures_of_many_steps_are_one_span() {
        let busy = [
            "step 1: 97.1 % of 2 CPUs",
            "step 2: 99 % of 2 CPUs",
            "step 3: 98 % of 2 CPUs",
            "step 5: 9,801.5 % of 2 CPUs",
        ];
        assert_eq!(folded(&busy), "steps 1 to 3, 5: 97.1 to 9,801.5 % of 2 CPUs");
        assert_eq!(
            folded(&["step 4: no counters of a device", "step 2: no counters of a device"]),
            "steps 2, 4: no counters of a device"
        );
        assert_eq!(folded(&["70 % of physical reads"]), "70 % of physical reads");
    }

    #[test]
    fn differences_in_words_are_distinguished() {
        assert_eq!(
            folded(&["step 1: made (pid 12) 1.5", "step 2: made (pid 13) 1.5"]),
            "step 1: made (pid 12) 1.5; step 2: made (pid 13) 1.5"
        );
        assert_eq!(folded(&["a x", "b x", "c x", "d x", "d x"]), "d x; a x; b x; and 1 more");
        assert_eq!(folded(&["sda1 full", "sda2 full"]), "sda1 full; sda2 full", "a name is no figure");
    }
}
