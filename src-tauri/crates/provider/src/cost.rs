//! The price of a step in US dollars, without rounding.

use rust_decimal::Decimal;

use crate::{event::Usage, model::Prices};

const LONG_CONTEXT: u64 = 200_000;

/// Prices are per million tokens; reasoning costs as much as output.
pub fn cost(usage: &Usage, prices: &Prices) -> Decimal {
    let is_long = usage.input.saturating_add(usage.cache_read) > LONG_CONTEXT;
    let tier = match &prices.over_200k {
        Some(tier) if is_long => tier,
        _ => &prices.base,
    };
    let price = |tokens: u64, per_million: Decimal| Decimal::from(tokens) * per_million;
    let sum = price(usage.input, tier.input)
        + price(usage.output.saturating_add(usage.reasoning), tier.output)
        + price(usage.cache_read, tier.cache_read)
        + price(usage.cache_write, tier.cache_write);
    (sum / Decimal::from(1_000_000)).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PriceTier;

    fn tier(input: &str, output: &str, cache_read: &str, cache_write: &str) -> PriceTier {
        let price = |text: &str| text.parse().unwrap();
        PriceTier {
            input: price(input),
            output: price(output),
            cache_read: price(cache_read),
            cache_write: price(cache_write),
        }
    }

    fn prices() -> Prices {
        Prices {
            base: tier("3", "15", "0.3", "3.75"),
            over_200k: Some(tier("6", "22.5", "0.6", "7.5")),
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price_and_reasoning_costs_like_output() {
        let usage = Usage {
            input: 1_000,
            output: 200,
            reasoning: 300,
            cache_read: 50_000,
            cache_write: 4_000,
        };
        // 0.003 + 0.0075 + 0.015 + 0.015
        assert_eq!(cost(&usage, &prices()), "0.0405".parse().unwrap());
    }

    #[test]
    fn a_tenth_of_a_cent_is_not_rounded_away() {
        let usage = Usage {
            input: 1,
            ..Usage::default()
        };
        assert_eq!(cost(&usage, &prices()).to_string(), "0.000003");
    }

    #[test]
    fn the_higher_tier_applies_above_200k_of_input_and_cache_reads() {
        let usage = |input, cache_read| Usage {
            input,
            cache_read,
            ..Usage::default()
        };
        let at = cost(&usage(150_000, 50_000), &prices());
        let over = cost(&usage(150_001, 50_000), &prices());
        assert_eq!(at, "0.465".parse().unwrap());
        assert_eq!(over, "0.930006".parse().unwrap());
    }

    #[test]
    fn a_model_without_a_second_tier_keeps_its_price() {
        let flat = Prices {
            over_200k: None,
            ..prices()
        };
        let usage = Usage {
            input: 1_000_000,
            ..Usage::default()
        };
        assert_eq!(cost(&usage, &flat), "3".parse().unwrap());
    }

    #[test]
    fn absurd_counts_do_not_overflow() {
        let usage = Usage {
            input: u64::MAX,
            output: u64::MAX,
            reasoning: u64::MAX,
            cache_read: u64::MAX,
            cache_write: u64::MAX,
        };
        assert!(cost(&usage, &prices()) > Decimal::ZERO);
    }
}
