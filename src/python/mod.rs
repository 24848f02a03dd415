//! (room under construction)
pub(crate) mod calls;
