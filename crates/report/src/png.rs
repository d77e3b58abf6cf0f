//! A picture drawn with the fonts of this host. A letter that no font has is an error: no picture loses its words in silence.

use std::sync::Arc;

use mindful_core::{Error, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Style};
use resvg::usvg::{Group, Node, Options, Tree};

/// Pixels for each unit of the picture, sharp on a slide; a unit is a pixel on a plain screen.
const SCALE: f32 = 2.0;
/// Highest picture, pixels: higher ones are scaled down.
const HIGHEST: f32 = 16_000.0;

pub fn png(svg: &str) -> Result<Vec<u8>> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    drawn(svg, fonts)
}

fn drawn(svg: &str, mut fonts: Database) -> Result<Vec<u8>> {
    let failed = |what: String| Error::run(format!("the picture cannot be drawn: {what}"), "pass --as svg");
    // If the host has none of the fonts that the picture names, any upright one is used.
    let Some(any) = upright(&fonts) else {
        return Err(Error::run(
            "no font is installed here: the picture would have no words",
            "install one (apt-get install fonts-dejavu-core), or pass --as svg",
        ));
    };
    fonts.set_serif_family(any);
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    complete(svg, &tree)?;
    let size = tree.size();
    let scale = SCALE.min(HIGHEST / size.height());
    let pixels = |length: f32| (length * scale).ceil() as u32;
    let (width, height) = (pixels(size.width()), pixels(size.height()));
    let mut paper =
        Pixmap::new(width, height).ok_or_else(|| failed(format!("{width} x {height} pixels are too many")))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut paper.as_mut());
    paper.encode_png().map_err(|error| failed(error.to_string()))
}

/// A family with an upright face, a proportional one where there is any.
fn upright(fonts: &Database) -> Option<String> {
    let faces = fonts.faces().filter(|face| face.style == Style::Normal && !face.families.is_empty());
    faces.min_by_key(|face| face.monospaced).map(|face| face.families[0].0.clone())
}

/// Fails where a text of `svg` is not in `tree`, or a letter of it in no font.
fn complete(svg: &str, tree: &Tree) -> Result<()> {
    let mut there = Words::default();
    there.collect(tree.root());
    let lost = svg.matches("<text").count() - svg.matches("></text>").count();
    let lost = lost.saturating_sub(there.texts);
    if lost == 0 && there.unknown.is_empty() {
        return Ok(());
    }
    let mut what = Vec::new();
    if lost > 0 {
        what.push(format!("{lost} of its texts"));
    }
    if !there.unknown.is_empty() {
        what.push(format!("the letters {}", crate::escape(&there.unknown)));
    }
    Err(Error::run(
        format!("the fonts of this host cannot draw all words of the picture: {} are missing", what.join(", ")),
        "install a font that has them (apt-get install fonts-noto), or pass --as svg",
    ))
}

/// The texts of a picture, and their characters that no font of this host has.
#[derive(Default)]
struct Words {
    texts: usize,
    unknown: String,
}

impl Words {
    fn collect(&mut self, group: &Group) {
        for node in group.children() {
            match node {
                Node::Group(group) => self.collect(group),
                Node::Text(text) => {
                    self.texts += 1;
                    let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                    // Glyph 0 is the box for characters that a font does not have.
                    glyphs.filter(|glyph| glyph.id.0 == 0).for_each(|glyph| self.unknown.push_str(&glyph.text));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: &str =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\"><text y=\"15\">p99</text></svg>";

    #[test]
    fn a_host_without_fonts_is_reported_so() {
        let refused = drawn(PICTURE, Database::new()).unwrap_err().to_string();
        assert!(refused.contains("no font is installed here") && refused.contains("--as svg"), "{refused}");
    }

    #[test]
    fn a_letter_that_no_font_has_is_named() {
        // A character of no language, which no font may ever have.
        let refused = png(&PICTURE.replace("p99", "p\u{10fffd}")).unwrap_err().to_string();
        assert!(refused.contains("cannot draw all words"), "{refused}");
        let drawn = Pixmap::decode_png(&png(PICTURE).unwrap()).unwrap();
        assert_eq!((drawn.width(), drawn.height()), (80, 40));
        assert!(drawn.pixels().iter().any(|pixel| pixel.alpha() > 200), "ink");
    }
}
