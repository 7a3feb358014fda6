//! Work on many small files, in parallel.
//!
//! Reading a small file is a few system calls and a parse; more than four threads do not help.
//! To be called on a thread that may block.

use std::num::NonZero;
use std::sync::LazyLock;

/// With fewer items a thread costs more than it saves.
const ITEMS_PER_THREAD: usize = 16;
const MAX_THREADS: usize = 4;

static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));

/// Applies `work` to each item and returns the results in the order of the items. Each thread has
/// one buffer to read files into.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T, &mut Vec<u8>) -> R + Sync,
) -> Vec<R> {
    let threads = (items.len() / ITEMS_PER_THREAD).clamp(1, MAX_THREADS);
    // Counting the cores reads files, so it is skipped for few items.
    let threads = if threads == 1 { 1 } else { threads.min(*CORES) };
    let run = |share: &[T]| -> Vec<R> {
        let mut buffer = Vec::with_capacity(16 * 1024);
        share.iter().map(|item| work(item, &mut buffer)).collect()
    };
    if threads == 1 {
        return run(items);
    }
    std::thread::scope(|scope| {
        let mut shares = items.chunks(items.len().div_ceil(threads));
        let own = shares.next().unwrap_or_default();
        let others: Vec<_> = shares.map(|share| scope.spawn(|| run(share))).collect();
        let mut results = run(own);
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order_of_the_items() {
        for count in [0, 1, 15, 16, 33, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled = super::map(&items, |item, _| item * 2);
            assert_eq!(
                doubled,
                items.iter().map(|item| item * 2).collect::<Vec<_>>()
            );
        }
    }
}
