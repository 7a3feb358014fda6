//! Dates in UTC.

use crate::Millis;

impl Millis {
    /// The day in UTC as `2026-11-16` (Howard Hinnant's days-to-civil algorithm).
    pub fn date(self) -> String {
        let days = self.0.div_euclid(86_400_000) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use crate::Millis;

    #[test]
    fn a_timestamp_has_its_date_in_utc() {
        let days = [0, 951_782_400_000, 1_786_706_395_136, 1_798_761_599_999, -1];
        assert_eq!(
            days.map(|day| Millis(day).date()),
            [
                "1970-01-01",
                "2000-02-29",
                "2026-08-14",
                "2026-12-31",
                "1969-12-31"
            ]
        );
    }
}
