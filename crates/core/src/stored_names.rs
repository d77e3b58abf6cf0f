/// An enum, and in the row of each variant the name by which people and programs know it.
#[macro_export]
macro_rules! stored_names {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $stored:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: [Self; [$($stored),*].len()] = [$(Self::$variant),*];

            /// Its name in records, plans and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $stored,)*
                }
            }

            /// The one with the name `text`.
            pub fn parse(text: &str) -> $crate::Result<Self> {
                $crate::plan::settings::parse_choice(text, &Self::ALL.map(|one| (one.name(), one)))
            }
        }

        impl From<$name> for String {
            fn from(one: $name) -> Self {
                one.name().to_owned()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
