//! The user namespace of this process: which numbers of users and groups there are in it. Outside of a container, all.

use std::fs;

use mindful_host::Kernel;

pub(crate) fn has_user(kernel: &Kernel, number: u32) -> bool {
    has(kernel, "uid_map", number)
}

pub(crate) fn has_group(kernel: &Kernel, number: u32) -> bool {
    has(kernel, "gid_map", number)
}

/// Each line is a range: its first number inside, its first outside, its length (`user_namespaces(7)`).
fn has(kernel: &Kernel, map: &str, number: u32) -> bool {
    let Ok(text) = fs::read_to_string(kernel.proc.join("self").join(map)) else { return true };
    text.lines().any(|line| {
        let range: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        matches!(range[..], [first, _, many] if (first..first + many).contains(&number.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(map: &str) -> (tempfile::TempDir, Kernel) {
        let proc = tempfile::tempdir().unwrap();
        fs::create_dir(proc.path().join("self")).unwrap();
        fs::write(proc.path().join("self/uid_map"), map).unwrap();
        let kernel = Kernel { proc: proc.path().to_owned(), ..Kernel::default() };
        (proc, kernel)
    }

    #[test]
    fn users_are_those_of_the_ranges() {
        for (map, users) in [
            ("         0          0 4294967295\n", [true, true, true]),
            ("         0       1000          1\n", [true, false, false]),
            ("0 1000 1\n1 100000 65535\n", [true, true, false]),
            ("", [false, false, false]),
        ] {
            let (_proc, kernel) = with(map);
            assert_eq!([0, 60_943, 4_000_000].map(|number| has_user(&kernel, number)), users, "{map:?}");
            assert!(has_group(&kernel, 7), "the kernel does not say");
        }
    }
}
