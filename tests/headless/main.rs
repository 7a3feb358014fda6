//! `lathectl` as people and scripts call it: the built binary, real processes, a fake model.

mod commands;
mod kill;
mod lathectl;
