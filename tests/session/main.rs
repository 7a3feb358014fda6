//! The session core through its public handle, as a specification of what it does.

mod failures;
mod first_turn;
mod lifecycle;
mod recovery;
mod time;
mod tools;
mod wires;
