//! SQL from templates: `{{name}}` is replaced, names from outside are quoted.

/// `template` with each `{{name}}` replaced by its text; the text itself is not searched again.
pub(crate) fn render(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.trim_end().split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        let value = values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        debug_assert!(value.is_some(), "nothing fills {name}");
        text += value.unwrap_or_default();
        text += rest;
    }
    text
}

pub(crate) fn dollar_quote(body: &str) -> String {
    let mut tag = "$body$".to_owned();
    while body.contains(&tag) {
        tag.insert(1, '_');
    }
    tag
}

pub(crate) fn quote_ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(crate) fn quote_literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dollar_quote_is_not_ended_by_its_content() {
        assert_eq!(dollar_quote("$body$ $_body$"), "$__body$");
    }

    #[test]
    fn hostile_names_stay_names() {
        assert_eq!(quote_ident("a\"; DROP SCHEMA public; --"), "\"a\"\"; DROP SCHEMA public; --\"");
        assert_eq!(quote_literal("it's \\ here"), "E'it''s \\\\ here'");
    }
}
