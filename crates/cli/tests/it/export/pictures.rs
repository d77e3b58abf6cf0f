//! Charts as pixels: in the requested size, with their words, and with the mark across a picture that is not to be
//! quoted.

#[cfg(not(feature = "png"))]
#[test]
fn a_build_without_pixels_says_which_has_them() {
    let export = "export latest --as png --output curve.png";
    crate::mindful::Mindful::new().refuses(export, "--as svg…--features png");
}

#[cfg(feature = "png")]
mod drawn {
    use crate::mindful::{Mindful, assert_has, message, printed};
    use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};

    fn attribute(tag: &str, name: &str) -> f32 {
        let rest = tag.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("no {name}: {tag}")).1;
        rest.split_once('"').unwrap().0.parse().unwrap()
    }

    fn dark(pixel: PremultipliedColorU8) -> bool {
        [pixel.red(), pixel.green(), pixel.blue()].iter().all(|part| *part < 128)
    }

    /// Red that shines through on the field or on paper: neither ink nor a curve.
    fn warns(pixel: PremultipliedColorU8) -> bool {
        let apart = pixel.green().abs_diff(pixel.blue());
        (222..=240).contains(&pixel.red()) && (190..=206).contains(&pixel.green()) && apart <= 4
    }

    /// A chart of the latest run: its text and its pixels.
    fn picture(mindful: &Mindful, more: &str) -> (String, Pixmap, Vec<u8>) {
        let export = |form| mindful.run(format!("export latest --chart distribution --as {form} {more}"));
        let (svg, png) = (export("svg"), export("png"));
        assert!(png.status.success(), "{}", message(&png));
        (printed(&svg), Pixmap::decode_png(&png.stdout).unwrap(), png.stdout)
    }

    fn count(pixels: &Pixmap, of: fn(PremultipliedColorU8) -> bool) -> usize {
        pixels.pixels().iter().filter(|pixel| of(**pixel)).count()
    }

    #[test]
    fn a_picture_has_its_size_its_words_and_its_doubt_mark() {
        let mindful = Mindful::new();
        mindful.measured("--sessions 2 --null-latency 400us");
        let (svg, pixels, _) = picture(&mindful, "");
        let size = |name| (attribute(&svg, name) * 2.0).ceil() as u32;
        assert_eq!((pixels.width(), pixels.height()), (size("width"), size("height")));
        let unit = pixels.width() as f32 / 620.0;
        let facts: Vec<&str> = svg.lines().filter(|line| line.starts_with("<text class=\"fact\"")).collect();
        assert!(facts.len() > 3 && svg.contains("block size: 8192 B"), "{svg}");
        let title = svg.lines().find(|line| line.starts_with("<text class=\"title\"")).unwrap();
        for text in facts.iter().chain([&title]) {
            let place = |value: f32| (value * unit) as u32;
            let (x, y) = (attribute(text, "x"), attribute(text, "y"));
            let across = (place(x)..place(x + 60.0)).flat_map(|x| (place(y - 9.0)..place(y)).map(move |y| (x, y)));
            let ink = across.filter(|(x, y)| dark(pixels.pixel(*x, *y).unwrap())).count();
            assert!(ink > 40, "{ink} dark pixels where there are words: {text}");
        }
        assert!(!svg.contains("class=\"doubt\"") && count(&pixels, warns) < 100, "{}", count(&pixels, warns));
    }

    #[test]
    fn a_picture_that_may_not_be_quoted_is_marked() {
        let mindful = Mindful::new();
        mindful.measured("--duration 2s --sessions 2 --null-fail 1@1500ms");
        let (svg, pixels, plain) = picture(&mindful, "");
        assert_has(&svg, "class=\"doubt\"…>INVALID<");
        assert!(count(&pixels, warns) > 5_000, "{} pixels of a watermark", count(&pixels, warns));
        let there = mindful.succeed("export --chart distribution --as png --output a.png");
        assert!(there.stdout.is_empty(), "{there:?}");
        assert_eq!(std::fs::read(mindful.path("a.png")).unwrap(), plain);
        mindful.refuses("export --as png --chart rungs", "rungs");
    }
    #[cfg(feature = "sqlite")]
    #[test]
    fn pixels_have_no_name_that_is_to_be_taken_out() {
        let mindful = Mindful::new();
        mindful.run("run --target sqlite:acme-orders.db --scale 1MiB --warmup 0s --duration 1s");
        let (named, pixels, plain) = picture(&mindful, "");
        let (redacted, without, bytes) = picture(&mindful, "--redact");
        assert!(named.contains("acme-orders") && !redacted.contains("acme-orders"), "{redacted}");
        assert!(bytes != plain && bytes == picture(&mindful, "--redact").2, "the text that was given, each time");
        assert_eq!(pixels.width(), without.width());
    }
}
