//! Where a request comes from, and how much may come from one place at a time.
//!
//! A client behind proxies is named by what the trusted ones wrote, counted from the right: what stands further left
//! was written by the client and is never looked at.

use crate::rate::{Bucket, Flow};
use crate::shared::Shared;
use crate::sync::lock;
use axum::extract::ConnectInfo;
use http::{HeaderMap, Request};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Sources whose requests are remembered at once. Beyond, a new one waits until others have been quiet for a while.
const MAX_SOURCES: usize = 65_536;

/// How many seconds' worth of requests may come at once.
const BURST_SECONDS: f64 = 10.0;

/// The client's address: the peer's, or, behind `trusted` proxies, what the outermost of them wrote down. A list that
/// is too short or no address there means that the request did not pass them all: then it is the peer's.
pub fn client(peer: Option<IpAddr>, headers: &HeaderMap, trusted: usize) -> Option<IpAddr> {
    let written = trusted.checked_sub(1).and_then(|skipped| {
        let lists = headers.get_all(FORWARDED_FOR).iter().rev();
        lists.flat_map(|list| list.as_bytes().rsplit(|byte| *byte == b',')).nth(skipped)
    });
    written.and_then(parse).or(peer).map(|address| address.to_canonical())
}

/// The address of the client who sent a request, where the server was given the peer's.
pub(crate) fn of_request<B>(shared: &Shared, request: &Request<B>) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    client(peer, request.headers(), shared.config.trusted_proxies)
}

/// An address as proxies write it: bare, or with a port.
fn parse(entry: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(entry).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip())).ok()
}

/// What counts as one place: an IPv4 address, or the network of an IPv6 address that one household has for itself.
/// Clients whose address is not known all count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source(Option<IpAddr>);

impl Source {
    /// The place of an address.
    pub fn of(address: Option<IpAddr>) -> Self {
        Self(address.map(|address| match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        }))
    }
}

/// Open connections by source. It remembers no source without one.
#[derive(Default)]
pub(crate) struct Occupancy(Mutex<HashMap<Source, usize>>);

/// One connection's place in the count, given back when it is dropped.
pub(crate) struct Occupied {
    occupancy: Arc<Occupancy>,
    source: Source,
}

impl Occupancy {
    /// Counts one more connection, or none where the source has `limit` already.
    pub(crate) fn enter(self: &Arc<Self>, source: Source, limit: usize) -> Option<Occupied> {
        let mut counts = lock(&self.0);
        let count = counts.entry(source).or_default();
        if *count >= limit {
            return None;
        }
        *count += 1;
        Some(Occupied { occupancy: self.clone(), source })
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let mut counts = lock(&self.occupancy.0);
        if let Some(count) = counts.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.source);
            }
        }
    }
}

/// Requests by source: a bucket for each that asked of late. So many a second, and ten seconds' worth at once.
pub struct SourceRate {
    flow: Flow,
    sources: Mutex<Sources>,
}

struct Sources {
    buckets: HashMap<Source, Bucket>,
    swept: Instant,
}

impl SourceRate {
    /// Full buckets for everybody.
    pub fn new(per_second: u32) -> Self {
        let sources = Sources { buckets: HashMap::new(), swept: Instant::now() };
        let per_second = f64::from(per_second);
        let flow = Flow { per_second, most: per_second * BURST_SECONDS };
        Self { flow, sources: Mutex::new(sources) }
    }

    /// Accounts for one request. False once the source asked too often, or is new while too many others ask.
    pub fn allows(&self, source: Source, now: Instant) -> bool {
        let mut sources = lock(&self.sources);
        if !sources.buckets.contains_key(&source) && sources.buckets.len() >= MAX_SOURCES {
            self.sweep(&mut sources, now);
            if sources.buckets.len() >= MAX_SOURCES {
                return false;
            }
        }
        let bucket = sources.buckets.entry(source).or_insert_with(|| Bucket::full(&self.flow, now));
        let allowed = bucket.level(&self.flow, now) >= 1.0;
        if allowed {
            bucket.take(1.0, &self.flow, now);
        }
        allowed
    }

    /// Forgets whoever would have a full bucket, which is what a newcomer has. At most once a second, for it looks at
    /// every source.
    fn sweep(&self, sources: &mut Sources, now: Instant) {
        if now.saturating_duration_since(sources.swept).as_secs() < 1 {
            return;
        }
        sources.swept = now;
        sources.buckets.retain(|_, bucket| bucket.level(&self.flow, now) < self.flow.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::time::Duration;

    fn seen(lists: &[&str], trusted: usize) -> String {
        let mut headers = HeaderMap::new();
        for list in lists {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(list.as_bytes()).unwrap());
        }
        client(Some([10, 0, 0, 9].into()), &headers, trusted).unwrap().to_string()
    }

    // Field report U85.
    #[test]
    fn the_client_is_who_the_outermost_trusted_proxy_wrote_down() {
        let peer = "10.0.0.9";
        for (lists, trusted, address) in [
            (&[][..], 0, peer),
            (&["1.1.1.1"][..], 0, peer),
            (&["1.1.1.1, 2.2.2.2"][..], 0, peer),
            (&[][..], 1, peer),
            (&["1.1.1.1"][..], 1, "1.1.1.1"),
            (&["6.6.6.6, 1.1.1.1"][..], 1, "1.1.1.1"),
            (&["6.6.6.6", "1.1.1.1"][..], 1, "1.1.1.1"),
            (&["6.6.6.6, 1.1.1.1"][..], 2, "6.6.6.6"),
            (&["7.7.7.7,6.6.6.6", "1.1.1.1,2.2.2.2"][..], 2, "1.1.1.1"),
            (&["7.7.7.7,6.6.6.6", "1.1.1.1,2.2.2.2"][..], 3, "6.6.6.6"),
            (&["1.1.1.1"][..], 2, peer),
            (&["2001:db8::1"][..], 1, "2001:db8::1"),
            (&["[2001:db8::1]"][..], 1, "2001:db8::1"),
            (&["[2001:db8::1]:443"][..], 1, "2001:db8::1"),
            (&["::ffff:1.1.1.1"][..], 1, "1.1.1.1"),
            (&["1.1.1.1:8080"][..], 1, "1.1.1.1"),
            (&["6.6.6.6, "][..], 1, peer),
            (&["6.6.6.6, unknown"][..], 1, peer),
            (&["6.6.6.6, \u{e9}"][..], 1, peer),
            (&["6.6.6.6, 1.1.1.1.1"][..], 1, peer),
        ] {
            assert_eq!(seen(lists, trusted), address, "{lists:?} behind {trusted}");
        }
        assert_eq!(client(None, &HeaderMap::new(), 1), None);
    }

    fn source(address: &str) -> Source {
        Source::of(Some(address.parse().unwrap()))
    }

    #[test]
    fn a_household_is_one_source() {
        assert_eq!(source("2001:db8:1:2::1"), source("2001:db8:1:2:ffff::9"));
        assert_ne!(source("2001:db8:1:2::1"), source("2001:db8:1:3::1"));
        assert_eq!(source("::ffff:1.1.1.1"), source("1.1.1.1"));
        assert_ne!(source("1.1.1.1"), source("1.1.1.2"));
    }

    #[test]
    fn a_source_has_its_places_back_when_they_are_left() {
        let occupancy = Arc::new(Occupancy::default());
        let here = source("1.1.1.1");
        let first = occupancy.enter(here, 2).unwrap();
        let second = occupancy.enter(here, 2).unwrap();
        assert!(occupancy.enter(here, 2).is_none());
        assert!(occupancy.enter(source("1.1.1.2"), 2).is_some());
        drop(first);
        let third = occupancy.enter(here, 2).unwrap();
        assert!(occupancy.enter(here, 2).is_none());
        drop((second, third));
        assert!(lock(&occupancy.0).is_empty(), "nobody is remembered without a connection");
    }

    #[test]
    fn a_source_asks_at_its_rate_after_its_burst_and_leaves_others_alone() {
        let now = Instant::now();
        let rate = SourceRate::new(2);
        let here = source("1.1.1.1");
        assert!((0..20).all(|_| rate.allows(here, now)));
        assert!(!rate.allows(here, now));
        assert!(rate.allows(source("1.1.1.2"), now));
        let later = now + Duration::from_secs(1);
        assert!((0..2).all(|_| rate.allows(here, later)));
        assert!(!rate.allows(here, later));
    }

    #[test]
    fn the_memory_of_sources_is_bounded_and_quiet_ones_are_forgotten() {
        let now = Instant::now() + Duration::from_secs(2);
        let rate = SourceRate::new(1);
        let nth = |number: usize| Source::of(Some(IpAddr::V4(u32::try_from(number).unwrap().into())));
        assert!((0..MAX_SOURCES).all(|number| rate.allows(nth(number), now)));
        assert!(!rate.allows(nth(MAX_SOURCES), now));
        assert!(rate.allows(nth(0), now), "who is known goes on");
        let later = now + Duration::from_secs(2);
        assert!(rate.allows(nth(MAX_SOURCES), later));
        assert!(lock(&rate.sources).buckets.len() <= 2);
    }
}
