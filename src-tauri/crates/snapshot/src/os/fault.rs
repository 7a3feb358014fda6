//! A place for tests to stop the program: called before each change to a file or a folder.

/// In the product, this does nothing.
#[cfg(not(test))]
pub(crate) fn step() -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) use for_tests::{Kill, step};

#[cfg(test)]
mod for_tests {
    use std::{cell::Cell, io};

    use rayon::{ThreadPool, ThreadPoolBuilder};

    thread_local! {
        /// How many steps are left to the program. One per thread: tests run side by side, and a
        /// kill in one of them must not reach another.
        static LEFT: Cell<i64> = const { Cell::new(i64::MAX) };

        /// Makes this thread the only one of its rayon pool, so that all steps of a restore are
        /// counted here.
        static ALONE: ThreadPool = ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build()
            .unwrap();
    }

    pub(crate) fn step() -> io::Result<()> {
        match LEFT.replace(LEFT.get() - 1) {
            1.. => Ok(()),
            _ => Err(io::Error::other("killed by a test")),
        }
    }

    /// After a number of steps every further one fails, those that clean up too: for the disk,
    /// that is the same as a kill.
    pub(crate) struct Kill(());

    impl Kill {
        pub fn after(steps: i64) -> Self {
            ALONE.with(|_| LEFT.set(steps));
            Self(())
        }

        /// For a second kill.
        pub fn set(&self, steps: i64) {
            LEFT.set(steps);
        }

        /// Whether the program came to its end before the kill.
        pub fn survived(&self) -> bool {
            LEFT.get() >= 0
        }

        /// The next start of the program.
        pub fn over(&self) {
            LEFT.set(i64::MAX);
        }
    }

    impl Drop for Kill {
        fn drop(&mut self) {
            self.over();
        }
    }
}
