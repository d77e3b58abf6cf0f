//! Findings that only this engine raises; docs/findings.md describes each.

mindful_core::finding_codes! {
    BUFFERS_NOT_REGISTERED = "buffers-not-registered", Info;
    NO_IO_URING = "no-io-uring", Warning;
}
