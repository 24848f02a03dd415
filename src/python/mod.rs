//! (room under construction)
mod calls;
