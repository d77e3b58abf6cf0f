//! Figures of a summary, each declared once.
//!
//! [`summary_of_figures!`] declares a struct of the summary. A field that is a figure has its row after `=`: unit,
//! formula and counters. JSON and schema follow from the field; the CSV, `--explain` and docs/metrics.md follow from
//! the row. A new figure is one field here and its computation in `analyze`.
//!
//! A row reads its value from the field, so that both cannot differ. A derive macro was rejected: it needs a crate of
//! its own for thirty lines. Rows next to the struct were rejected: name and accessor would be written twice.

use std::sync::Arc;

use crate::contract::metric::Counter;

/// The formula of a counter's rate.
pub(crate) const GROWTH: &str =
    "growth of the counter from the first boundary of the window to its last, by the time between";

stored_names! {
    pub enum Unit {
        Count = "1",
        Blocks = "blocks",
        Bytes = "bytes",
        Microseconds = "us",
        Milliseconds = "ms",
        Seconds = "s",
        PerSecond = "1/s",
        BlocksPerSecond = "blocks/s",
        BytesPerSecond = "bytes/s",
        /// MiB (2^20 bytes) per second.
        MibPerSecond = "MiB/s",
        /// A share or ratio, 1 is all.
        Share = "0 to 1",
        Percent = "%",
        /// CPUs' worth of time.
        Cores = "cores",
        /// Things for one unit of the price's currency.
        PerCurrency = "1/currency",
    }
}

pub(crate) type Accessor<T> = Arc<dyn Fn(&T) -> Option<f64> + Send + Sync>;

#[derive(Clone)]
pub struct FigureRow<T> {
    /// Its path in `T`: `cpu.db_cores`.
    pub path: String,
    /// The title of its column, where that is not made of the path.
    pub title: Option<&'static str>,
    pub unit: Unit,
    pub formula: &'static str,
    pub counters: &'static [Counter],
    pub value: Accessor<T>,
}

impl<T: 'static> FigureRow<T> {
    /// The row in a struct that has `T` at `path`.
    pub(crate) fn within<U: 'static>(
        self,
        path: &str,
        part: impl Fn(&U) -> Option<&T> + Send + Sync + 'static,
    ) -> FigureRow<U> {
        FigureRow { path: format!("{path}.{}", self.path), ..self.of_part(part) }
    }

    /// The same row of a struct that has `T` as a part.
    pub fn of_part<U: 'static>(self, part: impl Fn(&U) -> Option<&T> + Send + Sync + 'static) -> FigureRow<U> {
        let value = self.value;
        FigureRow {
            path: self.path,
            title: self.title,
            unit: self.unit,
            formula: self.formula,
            counters: self.counters,
            value: Arc::new(move |whole| part(whole).and_then(|part| value(part))),
        }
    }
}

pub trait Figures: Sized {
    /// Its rows, in the order of its fields.
    fn figures() -> Vec<FigureRow<Self>>;
}

pub(crate) trait FigureValue {
    fn figure(&self) -> Option<f64>;
}

impl FigureValue for f64 {
    fn figure(&self) -> Option<f64> {
        Some(*self)
    }
}

impl FigureValue for u32 {
    fn figure(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl FigureValue for u64 {
    fn figure(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl<T: FigureValue> FigureValue for Option<T> {
    fn figure(&self) -> Option<f64> {
        self.as_ref().and_then(FigureValue::figure)
    }
}

/// A struct of the summary with a row for each field that is a figure.
macro_rules! summary_of_figures {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty $(= $kind:ident $(($($row:tt)*))?)?, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
        }

        impl $crate::result::figure::Figures for $name {
            fn figures() -> Vec<$crate::result::figure::FigureRow<Self>> {
                let rows: Vec<Vec<_>> = vec![
                    $( $( $crate::result::figure::summary_of_figures!(@$kind $field, $type $(, $($row)*)?), )? )*
                ];
                rows.into_iter().flatten().collect()
            }
        }
    };
    (@figure $field:ident, $type:ty, $unit:ident, $formula:expr, [$($counter:ident),*] $(, $title:literal)?) => {
        vec![$crate::result::figure::FigureRow {
            path: stringify!($field).to_owned(),
            title: None $(.or(Some($title)))?,
            unit: $crate::result::figure::Unit::$unit,
            formula: $formula,
            counters: &[$($crate::contract::metric::Counter::$counter),*],
            value: std::sync::Arc::new(|whole: &Self| $crate::result::figure::FigureValue::figure(&whole.$field)),
        }]
    };
    (@nested $field:ident, $type:ty) => {
        <$type as $crate::result::figure::Figures>::figures()
            .into_iter()
            .map(|row| row.within(stringify!($field), |whole: &Self| Some(&whole.$field)))
            .collect()
    };
}

pub(crate) use summary_of_figures;
