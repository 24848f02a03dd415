//! (room under construction)

mod task;
