//! The initial inputs of fuzzing and its findings, read by every format.

use std::io::Cursor;

use mindful_import::waits::{Field, Filter};
use mindful_import::{FORMATS, import_configuration, recognised, runs};

use crate::samples::of_all_corpora;

#[test]
fn every_file_of_the_corpora_is_read_or_refused() {
    let fields = Field::parse_list("event,block,second").unwrap();
    let (mut files, mut steps, mut bytes) = (0, 0, 0);
    for (_, _, content) in of_all_corpora() {
        for format in FORMATS {
            for name in ["awr.txt.8", "disks_iops.csv", "disks_lat.csv"] {
                let read = (format.read)(name, &mut Cursor::new(&content)).unwrap_or_default();
                steps += runs(read, None).0.len();
            }
        }
        let source = recognised("x", Box::new(Cursor::new(content.clone())));
        let _ = source.and_then(|source| source.grouped(&fields, &Filter::default()));
        let _ = import_configuration("slob.conf", &String::from_utf8_lossy(&content));
        files += 1;
        bytes += content.len();
    }
    assert!(files > 20 && steps > 20, "{files} files, {steps} runs");
    assert!(bytes < 200_000, "corpora are kept small: {bytes} bytes");
}
