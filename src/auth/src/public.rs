//! Which addresses the public internet can reach. A client's document is fetched from these alone (§5), so that nobody
//! can make the server look into its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of the special-purpose registries that no public host has an address in: first address and prefix length.
const SPECIAL_V4: [([u8; 4], u32); 18] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 52, 193, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([192, 175, 48, 0], 24),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// The same within the global unicast addresses of IPv6, `2000::/3`. Whatever is outside of those is not public, forms
/// that carry an IPv4 address included.
const SPECIAL_V6: [(u128, u32); 5] = [
    (0x2001_0000 << 96, 23),
    (0x2001_0db8 << 96, 32),
    (0x2002_0000 << 96, 16),
    (0x2620_004f_8000 << 80, 48),
    (0x3fff_0000 << 96, 20),
];

const GLOBAL_V6: (u128, u32) = (0x2000 << 112, 3);

/// Whether an address is one that the public internet can reach.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |(first, prefix): ([u8; 4], u32)| {
        (address.to_bits() ^ Ipv4Addr::from(first).to_bits()) >> (32 - prefix) == 0
    };
    !SPECIAL_V4.into_iter().any(within)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let within = |(first, prefix): (u128, u32)| (address.to_bits() ^ first) >> (128 - prefix) == 0;
    within(GLOBAL_V6) && !SPECIAL_V6.into_iter().any(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_special_are_not_public() {
        for public in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for special in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:1.1.1.1",
            "::1.1.1.1",
            "64:ff9b::808:808",
            "100::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2001:1ff:ffff::1",
            "2002:7f00:1::",
            "2620:4f:8000::1",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(!is_public(special.parse().unwrap()), "{special}");
        }
    }
}
