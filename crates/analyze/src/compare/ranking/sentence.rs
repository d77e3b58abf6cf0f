//! The result of a ranking in sentences.

use mindful_core::result::ranking::RankedSide;

use super::group::Group;
use crate::compare::criterion::OrderedBy;
use crate::compare::figure::ComparedFigure;

/// The sentence of a group: `c is 1.31 times b (1.25 to 1.38) and costs 0.92 of it; a and b cannot be told apart.`
pub(super) fn group_sentence(by: OrderedBy, group: &Group) -> Option<String> {
    let ranked: Vec<&RankedSide> = group.summary.sides.iter().filter(|side| side.rank.is_some()).collect();
    let [best, second, ..] = ranked.as_slice() else {
        let alone = ranked.first().filter(|_| group.summary.sides.len() > 1);
        return alone.map(|side| format!("only {} has a rank by {by}.", side.name));
    };
    let mut parts = Vec::new();
    if !group.are_alike(&best.name, &second.name) {
        parts.extend(lead(best, second, by, group));
    }
    parts.extend(indistinguishable(&ranked, group));
    if let Some(first) = parts.first_mut().filter(|part| part.ends_with(APART)) {
        *first = format!("by {by}, {first}");
    }
    Some(parts.join("; ") + ".").filter(|sentence| sentence.len() > 1)
}

const APART: &str = "cannot be told apart";

fn lead(best: &RankedSide, second: &RankedSide, by: OrderedBy, group: &Group) -> Option<String> {
    let (ratio, interval) = group.ratio(&best.name, &second.name)?;
    let interval = interval.map_or_else(String::new, |[low, high]| format!(" ({low:.2} to {high:.2})"));
    let (a, b) = (&best.name, &second.name);
    let figure = match by {
        OrderedBy::Price => return Some(format!("a million reads of {a} cost {ratio:.2} of those of {b}{interval}")),
        OrderedBy::ReadsWithin(objective) => format!("{a} is {ratio:.2} times {b}{interval} at {objective}"),
        OrderedBy::Figure(ComparedFigure::Reads) => format!("{a} is {ratio:.2} times {b}{interval}"),
        OrderedBy::Figure(figure) if figure.higher_is_faster() => {
            format!("{a} is {ratio:.2} times {b}{interval} by {}", figure.name())
        }
        OrderedBy::Figure(figure) => format!("the {} of {a} is {ratio:.2} of that of {b}{interval}", figure.name()),
    };
    let costs = |side: &RankedSide| side.price.clone();
    let price = costs(best).zip(costs(second)).filter(|(a, b)| a.currency == b.currency);
    let price = price.map(|(a, b)| format!(" and costs {:.2} of it", a.per_hour / b.per_hour));
    Some(figure + &price.unwrap_or_default())
}

/// Neighbours in the order that are not distinguishable.
fn indistinguishable(ranked: &[&RankedSide], group: &Group) -> Vec<String> {
    let (mut parts, mut covered) = (Vec::new(), 0);
    for from in 0..ranked.len() {
        let to = (from + 1..ranked.len())
            .take_while(|to| ranked[from..*to].iter().all(|side| group.are_alike(&side.name, &ranked[*to].name)));
        let to = to.last().unwrap_or(from);
        if to > from && to + 1 > covered {
            covered = to + 1;
            let names: Vec<&str> = ranked[from..=to].iter().map(|side| side.name.as_str()).collect();
            let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (*last, others));
            parts.push(format!("{} and {last} {APART}", others.join(", ")));
        }
    }
    parts
}
