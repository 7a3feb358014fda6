//! Distinguishes public addresses from those of this machine or a private network.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use async_trait::async_trait;

/// Resolves a host name to addresses; replaced in tests.
#[async_trait]
pub trait Lookup: Send + Sync {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Whether an address is known to belong to the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        // This network, private, loopback, link-local (with cloud metadata), shared (CGNAT)
        (0 | 10 | 127, ..)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (100, 64..=127, _)
            // Protocol assignments, documentation, 6to4 relays, AS112, benchmarking
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 31, 196)
            | (192, 52, 193)
            | (192, 175, 48)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            // Multicast, reserved, broadcast
            | (224..=255, ..)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded_v4(address) {
        return is_public_v4(inner) && !is_tunnel(address);
    }
    let [a, b, c, ..] = address.segments();
    // Only global unicast, 2000::/3, is in use; in it:
    (a & 0xe000) == 0x2000
        // protocol assignments with Teredo and ORCHID, documentation
        && !(a == 0x2001 && b < 0x0200)
        && !(a == 0x2001 && b == 0x0db8)
        && !(a == 0x3fff && b < 0x1000)
        // and the discarded documentation range of 6bone's successors
        && !(a == 0x2620 && b == 0x004f && c == 0x8000)
}

/// Whether a local router may unpack it and reach the embedded address.
fn is_tunnel(address: Ipv6Addr) -> bool {
    address.segments()[0] == 0x2002
}

/// The IPv4 address inside: mapped, compatible, translated (NAT64, local NAT64, SIIT), 6to4.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let last = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(last(high, low)),
        [0x2002, high, low, ..] => Some(last(high, low)),
        _ => None,
    }
}
