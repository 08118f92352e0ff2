//! How much may be asked of a match (§15.5): one budget for each person, however they reach it (their own clients, the
//! bearer of a human token of theirs, HTTP), and one for each client that is nobody's. Leaving and joining again renews
//! none.

use playerthree_rooms::SessionId;
use playerthree_session::{Bucket, Millis, OwnerId};
use std::collections::BTreeMap;

/// Operations: so many a second, and so many at once.
const OPS_PER_SECOND: f64 = 20.0;
const OPS_BURST: u32 = 60;

/// Fresh views and keyframes, which cost more than any other operation: so many a second, and so many at once.
const VIEWS_PER_SECOND: f64 = 2.0;
const VIEWS_BURST: u32 = 40;

/// Whose budget something takes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Payer {
    Person(OwnerId),
    Client(SessionId),
}

struct Budget {
    ops: Bucket,
    views: Bucket,
}

/// The budgets of one match. One that is whole is not kept, so there are as many as have asked for something within the
/// seconds that a budget takes to fill.
#[derive(Default)]
pub(crate) struct Rates(BTreeMap<Payer, Budget>);

impl Rates {
    /// Takes what an operation costs, or says that there is nothing left.
    pub(crate) fn take(&mut self, payer: Payer, now: Millis) -> bool {
        self.budget(payer, now).ops.take(now)
    }

    /// Takes what a whole view costs beside its operation.
    pub(crate) fn take_view(&mut self, payer: Payer, now: Millis) -> bool {
        self.budget(payer, now).views.take(now)
    }

    /// Forgets the budgets that are whole again. To be called every now and then.
    pub(crate) fn forget_whole(&mut self, now: Millis) {
        self.0.retain(|_, budget| !(budget.ops.is_full(now) && budget.views.is_full(now)));
    }

    fn budget(&mut self, payer: Payer, now: Millis) -> &mut Budget {
        self.0.entry(payer).or_insert_with(|| Budget {
            ops: Bucket::new(OPS_PER_SECOND, OPS_BURST, now),
            views: Bucket::new(VIEWS_PER_SECOND, VIEWS_BURST, now),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str) -> Payer {
        Payer::Person(OwnerId(name.into()))
    }

    /// §15.5: whatever a person asks through, it is their one budget, and nobody else's.
    #[test]
    fn a_person_has_one_budget_and_others_have_theirs() {
        let mut rates = Rates::default();
        let passed = |rates: &mut Rates, who: &str| (0..100).filter(|_| rates.take(person(who), 0)).count();
        assert_eq!(passed(&mut rates, "ann"), 60);
        assert_eq!(passed(&mut rates, "bob"), 60);
        assert_eq!((0..100).filter(|_| rates.take_view(person("ann"), 0)).count(), 40);
        assert!(!rates.take(person("ann"), 49));
        assert!(rates.take(person("ann"), 50));
    }

    #[test]
    fn only_budgets_that_say_something_are_kept() {
        let mut rates = Rates::default();
        for who in 0..1_000 {
            rates.take(person(&who.to_string()), 0);
        }
        rates.take_view(person("ann"), 0);
        rates.forget_whole(49);
        assert_eq!(rates.0.len(), 1_001);
        rates.forget_whole(50);
        assert_eq!(
            rates.0.keys().collect::<Vec<_>>(),
            [&person("ann")],
            "a view takes half a second to come back"
        );
        rates.forget_whole(500);
        assert!(rates.0.is_empty());
    }
}
