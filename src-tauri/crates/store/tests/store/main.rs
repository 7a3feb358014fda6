//! The store as the rest of the program sees it.

mod basics;
mod damage;
mod faults;
mod fixtures;
mod floor;
mod kill;
mod migrations;
mod paging;
mod processes;
mod soon;
mod support;
mod trash;
