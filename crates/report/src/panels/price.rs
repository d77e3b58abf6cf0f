//! Work for the price, if the plan has one.

use mindful_core::plan::Price;
use mindful_core::result::StepSummary;

use crate::figure::number;
use crate::panels::Panel;

/// One line; empty without a price.
pub(crate) fn panel(price: Option<&Price>, step: &StepSummary) -> Panel {
    let mut page = Panel::default();
    let Some(price) = price else { return page };
    let bought = &step.per_price;
    let parts = [
        (bought.operations, "operations"),
        (bought.logical_reads, "logical reads"),
        (bought.physical_reads, "physical reads"),
    ];
    let parts: Vec<_> =
        parts.into_iter().filter_map(|(count, what)| Some(format!("{} {what}", number(count?)))).collect();
    if !parts.is_empty() {
        page.blank();
        let month = format!("{} {} a month of 730 hours", number(price.per_month()), price.currency);
        let details = Some(price.details()).filter(|details| !details.is_empty());
        page.wrapped(
            2,
            &format!("price: {}", [Some(month), details].into_iter().flatten().collect::<Vec<_>>().join(", ")),
        );
        page.wrapped(2, &format!("at {price} an hour, 1 {} buys {}", price.currency, parts.join(", ")));
    }
    page
}

/// The step of a ladder that does most for the money.
pub(crate) fn best(price: &Price, steps: &[&StepSummary]) -> Option<String> {
    let bought = |step: &&StepSummary| step.per_price.operations.zip(step.sessions);
    let (operations, sessions) = steps.iter().filter_map(bought).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (operations, currency) = (number(operations), &price.currency);
    Some(format!("at {price} an hour, 1 {currency} buys {operations} operations at most, with {sessions} sessions"))
}
