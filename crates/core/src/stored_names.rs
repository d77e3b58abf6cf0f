/// An enum, and in the row of each variant the name under which a run stores it.
macro_rules! stored_names {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $stored:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// The name under which a run stores it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $stored,)*
                }
            }
        }
    };
}
