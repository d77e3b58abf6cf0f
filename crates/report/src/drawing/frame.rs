//! The frame of a drawing: on a page its heading, words and table; as a separate file also its colours and the facts.

use std::fmt::Write as _;

use crate::markup::{escaped_text, marked_up};
use crate::table::wrap;

pub(crate) const WIDTH: f64 = 620.0;
/// Meaning of colours and lines, for a page and for a separate picture.
pub(crate) const STYLE: &str = include_str!("chart.css");
pub(crate) const LINE: f64 = 13.0;
pub(crate) const CHARACTER: f64 = 6.4;

/// A picture before it is placed. All its texts are marked up already, except title and words.
#[derive(Debug, Clone)]
pub struct Drawing {
    pub name: &'static str,
    pub title: String,
    pub caption: String,
    /// How to read it, in sentences; may be empty.
    pub notes: String,
    /// Its marks, in a space of [`WIDTH`] and `height`.
    pub content: String,
    pub height: f64,
    /// Its figures, titles first.
    pub rows: Vec<Vec<String>>,
    /// The text across it if the figures may not be quoted.
    pub doubt: Option<&'static str>,
}

impl Drawing {
    /// The drawing on a page, with heading, words and its table; `number` makes its names unique.
    pub(crate) fn figure(&self, number: usize) -> String {
        let id = format!("{}-{number}", self.name);
        let mut html =
            format!("<figure class=\"chart\" data-chart=\"{}\">\n<h3>{}</h3>\n", self.name, escaped_text(&self.title));
        html.push_str(&scrolled(&self.title));
        let _ = writeln!(html, "<svg viewBox=\"0 0 {WIDTH} {}\" {}", self.height, self.named(&id));
        html.push_str(&self.content);
        html.push_str(&self.watermark());
        let _ = write!(html, "</svg></div>\n<figcaption>{}</figcaption>\n", escaped_text(&self.caption));
        let _ = write!(
            html,
            "<details class=\"behind\">\n<summary>How to read it, and its figures</summary>\n<p>{}</p>\n{}</details>\n",
            escaped_text(&self.notes),
            self.table()
        );
        html.push_str("</figure>\n");
        html
    }

    /// The drawing as a file, on white: with its heading, and below it `facts`, a line or more each.
    pub fn file(&self, facts: &[String]) -> String {
        const LINE: f64 = 16.0;
        const TOP: f64 = 34.0;
        let columns = (WIDTH - 24.0) / 5.9;
        let notes = Some(&self.notes).filter(|notes| !notes.is_empty());
        let words = std::iter::once(&self.caption).chain(notes).chain(facts);
        let lines: Vec<String> = words.flat_map(|words| wrap(&crate::escape(words), columns as usize)).collect();
        let height = TOP + self.height + 14.0 + LINE * lines.len() as f64;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {WIDTH} {height}\" {}",
            WIDTH * 1.6,
            height * 1.6,
            self.named(self.name)
        );
        let _ = write!(
            svg,
            "\n<style>\n{}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
             <text class=\"title\" x=\"12\" y=\"24\">{}</text>\n<g transform=\"translate(0 {TOP})\">\n{}{}</g>\n",
            on_white(),
            escaped_text(&self.title),
            self.content,
            self.watermark()
        );
        for (at, line) in lines.iter().enumerate() {
            let y = TOP + self.height + 12.0 + LINE * at as f64;
            let _ = writeln!(svg, "<text class=\"fact\" x=\"12\" y=\"{y}\">{}</text>", marked_up(line));
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The rest of the opening tag, and the text for screen readers.
    fn named(&self, id: &str) -> String {
        format!(
            "role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n",
            escaped_text(&self.title),
            escaped_text(format!("{} {}", self.caption, self.notes).trim_end())
        )
    }

    fn watermark(&self) -> String {
        let Some(doubt) = self.doubt else { return String::new() };
        let (x, y) = (WIDTH / 2.0, self.height / 2.0);
        format!("<text class=\"doubt\" x=\"{x}\" y=\"{y}\" transform=\"rotate(-18 {x} {y})\">{doubt}</text>\n")
    }

    fn table(&self) -> String {
        let Some((titles, rows)) = self.rows.split_first() else { return String::new() };
        table(titles, rows)
    }
}

/// The frame of a picture called `title`, which scrolls sideways on a narrow screen instead of shrinking its letters.
pub(crate) fn scrolled(title: &str) -> String {
    format!("<div class=\"scrolled\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">", escaped_text(title))
}

/// `lines` below each other, the first at `y`.
pub(crate) fn write_lines(svg: &mut String, class: &str, [x, y]: [f64; 2], lines: &[String]) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    for (at, line) in lines.iter().enumerate() {
        let y = y + LINE * at as f64;
        let _ = writeln!(svg, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", marked_up(line));
    }
}

/// `words` in lines of at most `columns` characters, harmless in a picture.
pub(crate) fn lines_of(words: &str, columns: usize) -> Vec<String> {
    wrap(&crate::escape(words), columns)
}

/// A table on a page, its first column naming the rows. Columns of words are flush left, those of numbers right.
pub(crate) fn table(titles: &[String], rows: &[Vec<String>]) -> String {
    let mut html = String::from(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table of the figures\"><table>\n<thead><tr>",
    );
    let begins_with_letter = |cell: &String| cell.starts_with(char::is_alphabetic);
    let class = |at: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(at));
        if cells.any(begins_with_letter) { " class=\"words\"" } else { "" }
    };
    let classes: Vec<&str> = (0..titles.len()).map(class).collect();
    for (title, class) in titles.iter().zip(&classes) {
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped_text(title));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for cells in rows {
        for (at, cell) in cells.iter().enumerate() {
            let cell = escaped_text(cell);
            let _ = if at == 0 {
                write!(html, "<tr><th scope=\"row\">{cell}</th>")
            } else {
                write!(html, "<td{}>{cell}</td>", classes.get(at).unwrap_or(&""))
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
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
