//! First contact with a made-up server.

mod self_proof;
