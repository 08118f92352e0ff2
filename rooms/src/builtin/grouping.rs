//! Who plays with whom: the pure part of a queue.
//!
//! A match is made around one of its parties, the anchor: every other party in it lies within the anchor's reach, and
//! the anchor within theirs. The longest-waiting party is tried as an anchor first, and the nearest ranks are taken.

/// The most players of a match. A sum of players is a bit of a mask.
pub(super) const PLAYERS_MAX: usize = 100;

/// People who wait to be put into one match together.
#[derive(Clone, Debug)]
pub(super) struct Party {
    /// The mean of its members' ranks.
    pub(super) rank: f64,
    /// How many they are.
    pub(super) size: usize,
    /// How far another rank may be from theirs by now.
    pub(super) reach: f64,
    /// Whether they have waited so long that a smaller match will do.
    pub(super) is_patient_no_more: bool,
}

impl Party {
    fn accepts(&self, other: &Self) -> bool {
        (self.rank - other.rank).abs() <= self.reach.min(other.reach)
    }
}

/// Puts parties together into matches of `players`, or of at least `fewest` around a party that has waited its time.
/// `parties` come with the longest-waiting first; the answer names them by their place.
pub(super) fn matches(parties: &[Party], players: usize, fewest: usize) -> Vec<Vec<usize>> {
    let mut free = vec![true; parties.len()];
    let mut made = Vec::new();
    for (anchor, party) in parties.iter().enumerate() {
        if !free[anchor] || party.size > players {
            continue;
        }
        let mut near: Vec<_> = (0..parties.len())
            .filter(|&other| other != anchor && free[other] && party.accepts(&parties[other]))
            .collect();
        near.sort_by(|&one, &other| {
            let distance = |place: usize| (parties[place].rank - party.rank).abs();
            distance(one).total_cmp(&distance(other))
        });
        let sizes: Vec<_> = near.iter().map(|&other| parties[other].size).collect();
        let least = if party.is_patient_no_more { fewest } else { players };
        if let Some(chosen) = fill(party.size, &sizes, players, least) {
            let group: Vec<_> =
                std::iter::once(anchor).chain(chosen.into_iter().map(|place| near[place])).collect();
            group.iter().for_each(|&member| free[member] = false);
            made.push(group);
        }
    }
    made
}

/// How many players each party could play with now, itself counted, up to `players`.
pub(super) fn company(parties: &[Party], players: usize) -> Vec<usize> {
    let within = |party: &Party| -> usize {
        parties.iter().filter(|other| party.accepts(other)).map(|other| other.size).sum()
    };
    parties.iter().map(|party| within(party).min(players)).collect()
}

/// Chooses from `sizes`, the first ones if it can, so that together with `first` they make `most`, or else as many as
/// possible but no fewer than `least`. Returns the chosen places.
fn fill(first: usize, sizes: &[usize], most: usize, least: usize) -> Option<Vec<usize>> {
    let within = (1_u128 << (most + 1)) - 1;
    // The sums that the sizes up to each place can make, each a bit.
    let mut sums = vec![1_u128 << first];
    for &size in sizes {
        let last = sums[sums.len() - 1];
        if last >> most & 1 == 1 {
            break;
        }
        let with = if size <= most { last << size & within } else { 0 };
        sums.push(last | with);
    }
    let reachable = sums[sums.len() - 1];
    let mut sum = (least.max(first)..=most).rev().find(|sum| reachable >> sum & 1 == 1)?;
    let mut chosen = Vec::new();
    for place in (1..sums.len()).rev() {
        if sums[place - 1] >> sum & 1 == 0 {
            chosen.push(place - 1);
            sum -= sizes[place - 1];
        }
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn single(rank: f64, reach: f64) -> Party {
        Party { rank, size: 1, reach, is_patient_no_more: false }
    }

    #[test]
    fn a_match_takes_the_nearest_ranks_around_the_longest_waiting() {
        let parties = [100.0, 500.0, 140.0, 110.0, 120.0].map(|rank| single(rank, 50.0));
        assert_eq!(matches(&parties, 2, 2), [vec![0, 3], vec![2, 4]]);
        assert_eq!(matches(&parties, 3, 3), [vec![0, 4, 3]]);
        assert_eq!(company(&parties, 3), [3, 1, 3, 3, 3]);
    }

    #[test]
    fn both_sides_must_accept_each_other() {
        let far = [single(100.0, 1_000.0), single(200.0, 50.0)];
        assert_eq!(matches(&far, 2, 2), [[0; 0]; 0]);
        let near = [single(100.0, 1_000.0), single(150.0, 50.0)];
        assert_eq!(matches(&near, 2, 2), [[0, 1]]);
    }

    #[test]
    fn parties_stay_together_and_fill_a_match_exactly() {
        let party = |rank, size| Party { rank, size, reach: 100.0, is_patient_no_more: false };
        // The nearest party of two would leave a place that nobody can take.
        assert_eq!(matches(&[party(0.0, 1), party(1.0, 2), party(2.0, 3)], 4, 4), [[0, 2]]);
        assert_eq!(matches(&[party(0.0, 3), party(0.0, 3)], 4, 4), [[0; 0]; 0]);
        assert_eq!(matches(&[party(0.0, 4)], 4, 4), [[0]]);
    }

    #[test]
    fn a_smaller_match_is_made_only_around_a_party_that_waited_its_time() {
        let mut parties = [single(0.0, 10.0), single(1.0, 10.0), single(50.0, 10.0)];
        assert_eq!(matches(&parties, 4, 2), [[0; 0]; 0]);
        parties[1].is_patient_no_more = true;
        assert_eq!(matches(&parties, 4, 2), [[1, 0]]);
        parties[2].is_patient_no_more = true;
        assert_eq!(matches(&parties, 4, 1).len(), 2);
    }

    fn any_party() -> impl Strategy<Value = Party> {
        (0.0..1_000.0, 1_usize..4, 0.0..200.0, any::<bool>()).prop_map(
            |(rank, size, reach, is_patient_no_more)| Party { rank, size, reach, is_patient_no_more },
        )
    }

    // Field report U16.
    proptest! {
        #[test]
        fn matches_are_disjoint_of_the_right_size_and_none_that_fits_is_missed(
            parties in proptest::collection::vec(any_party(), 0..40),
            players in 1_usize..8,
            fewest in 1_usize..8,
        ) {
            let fewest = fewest.min(players);
            let made = matches(&parties, players, fewest);
            let mut used = vec![false; parties.len()];
            for group in &made {
                let anchor = &parties[group[0]];
                let size: usize = group.iter().map(|&place| parties[place].size).sum();
                let least = if anchor.is_patient_no_more { fewest } else { players };
                prop_assert!((least..=players).contains(&size));
                for &place in group {
                    prop_assert!(!std::mem::replace(&mut used[place], true), "a party is in one match");
                    prop_assert!(anchor.accepts(&parties[place]));
                }
            }
            let left: Vec<_> =
                parties.iter().zip(&used).filter(|(_, used)| !**used).map(|(party, _)| party.clone()).collect();
            prop_assert!(matches(&left, players, fewest).is_empty(), "nobody is left who could play");
        }

        #[test]
        fn no_two_that_accept_each_other_both_stay_behind(ranks in proptest::collection::vec((0.0..500.0, 0.0..60.0), 0..60)) {
            let parties: Vec<_> = ranks.into_iter().map(|(rank, reach)| single(rank, reach)).collect();
            let made = matches(&parties, 2, 2);
            let left: Vec<_> = (0..parties.len()).filter(|place| !made.iter().flatten().any(|used| used == place)).collect();
            for &one in &left {
                for &other in &left {
                    prop_assert!(one == other || !parties[one].accepts(&parties[other]));
                }
            }
        }
    }
}
