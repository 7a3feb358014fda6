//! The real window, from start to restart.
