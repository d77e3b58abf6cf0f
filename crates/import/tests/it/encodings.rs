//! Files are read in every encoding.

use mindful_import::runs;

use crate::measured::read;
use crate::samples;

#[test]
fn a_file_is_the_same_in_each_encoding_and_with_each_line_end() {
    for (_, name, text) in samples::of_each_format() {
        let plain = runs(read(&name, text.clone()).unwrap(), None).0;
        assert!(!plain.is_empty(), "{name}");
        // The first two characters show UTF-16 without a mark.
        let text = text.trim_start();
        for (ends, text) in
            [("LF", text.to_owned()), ("CR LF", text.replace('\n', "\r\n")), ("CR", text.replace('\n', "\r"))]
        {
            let utf16 = |mark: &[u16], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
                mark.iter().copied().chain(text.encode_utf16()).flat_map(bytes).collect()
            };
            for bytes in [
                text.clone().into_bytes(),
                [&[0xef, 0xbb, 0xbf], text.as_bytes()].concat(),
                utf16(&[0xfeff], u16::to_le_bytes),
                utf16(&[0xfeff], u16::to_be_bytes),
                utf16(&[], u16::to_le_bytes),
                utf16(&[], u16::to_be_bytes),
            ] {
                assert!(
                    runs(read(&name, bytes.clone()).unwrap(), None).0 == plain,
                    "{name}, {ends}, {:x?}",
                    &bytes[..4]
                );
            }
        }
    }
}
