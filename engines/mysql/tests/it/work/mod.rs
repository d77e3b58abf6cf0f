//! What breaks while sessions work.

mod broken;
