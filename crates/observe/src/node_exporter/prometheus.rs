//! The text that Prometheus exporters serve: a name, labels, a value a line.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

impl Sample {
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

/// All samples; comments and lines that cannot be understood are left out.
pub(crate) fn parse(text: &str) -> Vec<Sample> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Sample> {
    let end = line.find(|c: char| c == '{' || c.is_ascii_whitespace())?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => parse_labels(inside)?,
        None => (BTreeMap::new(), rest),
    };
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// Parses `name="value",…}` and returns the rest. In a value `\\`, `\"` and `\n` mean backslash, quote and newline.
fn parse_labels(text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    let mut rest = text.trim_start_matches([',', ' ']);
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let (value, after) = unquote(quoted)?;
        labels.insert(name.trim().to_owned(), value);
        rest = after.trim_start_matches([',', ' ']);
    }
}

fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match letters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;

    #[test]
    fn names_labels_and_values_are_read() {
        let text = "# HELP node_cpu Seconds\n# TYPE node_cpu counter\n\
                    node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 1416.31\n\
                    node_vmstat_pgpgin 2.5238049e+07\n\
                    odd{path=\"a\\\\b \\\"c\\\"\\n}, \",}  NaN 1700000000\n\
                    torn{cpu=\"0\n";
        let samples = parse(text);
        assert_eq!(samples.len(), 3);
        assert_eq!((samples[0].label("mode"), samples[0].value), ("user", 1416.31));
        assert_eq!((samples[1].name.as_str(), samples[1].value), ("node_vmstat_pgpgin", 25_238_049.0));
        assert_eq!(samples[2].label("path"), "a\\b \"c\"\n}, ");
        assert!(samples[2].value.is_nan());
        assert_eq!(samples[2].label("nothing"), "");
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("(\\{|\\}|=\"|\"|,|\\\\|[a-z]|[0-9]| |\\PC|\n){0,80}", parse);
    }

    #[test]
    fn any_label_survives_its_quoting() {
        any_text("\\PC{0,20}", |value| {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            assert_eq!(parse(&format!("x{{a=\"{quoted}\"}} 1"))[0].label("a"), value);
        });
    }
}
