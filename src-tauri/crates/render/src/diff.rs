//! Empty until the next change.
