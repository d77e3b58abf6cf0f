//! The frame of a drawing: on a page its heading, words and table; as a separate file also its colours and the facts.

use std::fmt::Write as _;

use super::scale::Scale;
use crate::markup::{escaped_text, table};
use crate::table::{Table, wrap};

pub(crate) const WIDTH: f64 = 620.0;
/// Meaning of colours and lines, for a page and for a separate picture.
pub(crate) const STYLE: &str = include_str!("chart.css");
/// Height of a line of words, and width of a character.
pub(crate) const LINE: f64 = 13.0;
pub(crate) const CHARACTER: f64 = 6.4;

/// Name, title and words of a picture.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heading {
    name: &'static str,
    title: String,
    caption: String,
    /// How to read it, in sentences; may be empty.
    notes: String,
}

impl Heading {
    pub(crate) fn new(
        name: &'static str,
        title: impl Into<String>,
        caption: impl Into<String>,
        notes: impl Into<String>,
    ) -> Self {
        Self { name, title: title.into(), caption: caption.into(), notes: notes.into() }
    }
}

/// A picture before it is placed. Its marks are marked up already, its words are not.
#[derive(Debug, Clone)]
pub struct Drawing {
    heading: Heading,
    marks: Svg,
    height: f64,
    /// Its figures.
    table: Table,
    /// The text across it if the figures may not be quoted.
    doubt: Option<&'static str>,
}

/// Marks in a space of [`WIDTH`]; coordinates to a tenth.
#[derive(Debug, Clone, Default)]
pub(crate) struct Svg(pub String);

impl Svg {
    pub(crate) fn path(&mut self, class: &str, d: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    pub(crate) fn line(&mut self, class: &str, [x, y, to_x, to_y]: [f64; 4]) {
        self.path(class, &format!("M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}"));
    }

    /// A line from `low` to `high` at level `y`, with ends of 8.
    pub(crate) fn interval(&mut self, class: &str, [low, high]: [f64; 2], y: f64) {
        let ends = y - 4.0;
        self.path(class, &format!("M{low:.1} {y:.1}H{high:.1}M{low:.1} {ends:.1}v8M{high:.1} {ends:.1}v8"));
    }

    /// A mark around a point, with the text that appears on it.
    pub(crate) fn mark(&mut self, class: &str, [x, y]: [f64; 2], d: &str, title: &str) {
        let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escaped_text(title)) };
        let _ =
            writeln!(self.0, "<path class=\"{class}\" transform=\"translate({x:.1} {y:.1})\" d=\"{d}\">{title}</path>");
    }

    pub(crate) fn rect(&mut self, class: &str, [x, y, wide, high]: [f64; 4]) {
        let (wide, high) = (wide.max(0.0), high.max(0.0));
        let _ = writeln!(
            self.0,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"/>"
        );
    }

    pub(crate) fn text(&mut self, class: &str, [x, y]: [f64; 2], words: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.0, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped_text(words));
    }

    /// `lines` below each other, the first at `y`.
    pub(crate) fn lines(&mut self, class: &str, [x, y]: [f64; 2], lines: &[String]) {
        for (at, line) in lines.iter().enumerate() {
            self.text(class, [x, y + LINE * at as f64], line);
        }
    }

    /// Level lines at the ticks of an axis from `left` to `right`, each named at its left end.
    pub(crate) fn levels(&mut self, [left, right]: [f64; 2], scale: &Scale, y: impl Fn(f64) -> f64) {
        for (value, name) in &scale.ticks {
            let y = y(*value);
            self.line("rule", [left, y, right, y]);
            self.text("at-end", [left - 7.0, y + 4.0], name);
        }
    }
}

impl Drawing {
    pub(crate) fn new(heading: Heading, marks: Svg, height: f64, table: Table) -> Self {
        Self { heading, marks, height, table, doubt: None }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.heading.name
    }

    pub(crate) fn doubted(self, doubt: Option<&'static str>) -> Self {
        Self { doubt, ..self }
    }

    /// The drawing with `words` after its title.
    pub(crate) fn entitled(mut self, words: &str) -> Self {
        self.heading.title += words;
        self
    }

    /// Adds the drawing to a page, with heading, words and its table. On a narrow screen it scrolls sideways instead of
    /// shrinking its letters. The number of the figure makes its names unique.
    fn add_figure(&self, html: &mut String) {
        let Heading { name, title, caption, notes } = &self.heading;
        let id = format!("{name}-{}", html.matches("<figure ").count() + 1);
        let (named, marks, table) = (self.named(&id), self.marks(), table(&self.table));
        let [title, caption, notes] = [title, caption, notes].map(|words| escaped_text(words));
        let summary = if table.is_empty() { "How to read it" } else { "How to read it, and its figures" };
        let behind = if notes.is_empty() && table.is_empty() {
            String::new()
        } else {
            format!("<details class=\"behind\">\n<summary>{summary}</summary>\n<p>{notes}</p>\n{table}</details>\n")
        };
        let _ = write!(
            html,
            "<figure class=\"chart\" data-chart=\"{name}\">\n<h3>{title}</h3>\n\
             <div class=\"scrolled\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">\
             <svg viewBox=\"0 0 {WIDTH} {}\" {named}{marks}</svg></div>\n<figcaption>{caption}</figcaption>\n\
             {behind}</figure>\n",
            self.height
        );
    }

    /// The drawing as a file, on white: with its heading, and below it `facts`, a line or more each.
    pub fn file(&self, facts: &[String]) -> String {
        const LINE: f64 = 16.0;
        const TOP: f64 = 34.0;
        let columns = (WIDTH - 24.0) / 5.9;
        let Heading { name, title, caption, notes } = &self.heading;
        let words = [caption, notes].into_iter().filter(|words| !words.is_empty()).chain(facts);
        let lines: Vec<String> = words.flat_map(|words| lines_of(words, columns as usize)).collect();
        let height = TOP + self.height + 14.0 + LINE * lines.len() as f64;
        let mut below = Svg::default();
        for (at, line) in lines.iter().enumerate() {
            below.text("fact", [12.0, TOP + self.height + 12.0 + LINE * at as f64], line);
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {WIDTH} {height}\" {}\n\
             <style>\n{}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
             <text class=\"title\" x=\"12\" y=\"24\">{}</text>\n<g transform=\"translate(0 {TOP})\">\n{}</g>\n{}</svg>\n",
            WIDTH * 1.6,
            height * 1.6,
            self.named(name),
            on_white(),
            escaped_text(title),
            self.marks(),
            below.0
        )
    }

    /// The rest of the opening tag, and the text for screen readers.
    fn named(&self, id: &str) -> String {
        let Heading { title, caption, notes, .. } = &self.heading;
        format!(
            "role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n",
            escaped_text(title),
            escaped_text(format!("{caption} {notes}").trim_end())
        )
    }

    /// The marks, and the doubt across them.
    fn marks(&self) -> String {
        let Some(doubt) = self.doubt else { return self.marks.0.clone() };
        let (marks, x, y) = (&self.marks.0, WIDTH / 2.0, self.height / 2.0);
        format!("{marks}<text class=\"doubt\" x=\"{x}\" y=\"{y}\" transform=\"rotate(-18 {x} {y})\">{doubt}</text>\n")
    }
}

/// Adds `drawings` to a page.
pub(crate) fn add_figures(html: &mut String, drawings: &[Drawing]) {
    html.push_str("<div class=\"charts\">\n");
    for drawing in drawings {
        drawing.add_figure(html);
    }
    html.push_str("</div>\n");
}

/// `words` in lines of at most `columns` characters, harmless in a picture.
pub(crate) fn lines_of(words: &str, columns: usize) -> Vec<String> {
    wrap(&crate::escape(words), columns)
}

/// The style with the colours for paper written out: some programs that show pictures do not support colour variables.
fn on_white() -> String {
    let (names, rules) = STYLE.split_once("/* rules */").unwrap_or(("", STYLE));
    let light = names.split("@media").next().unwrap_or_default();
    let mut style = rules.to_owned();
    for part in light.split(['{', ';']) {
        if let Some((name, colour)) = part.trim().split_once(':').filter(|(name, _)| name.starts_with("--")) {
            style = style.replace(&format!("var({name})"), colour.trim());
        }
    }
    style
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_no_colour_by_a_variable() {
        let style = on_white();
        assert!(!style.contains("var(") && style.contains('#'), "{style}");
    }
}
