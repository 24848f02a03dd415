//! Whoever answers an assignment.

pub(in crate::editor) mod rules;
