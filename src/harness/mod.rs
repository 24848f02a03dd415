//! (room under construction)

mod fixtures;
