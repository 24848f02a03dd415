//! Did it get worse? Judges proposed texts and never repairs them.
//!
//! - [`shape`]: the edit alone: it stays in its region, changes something, and the file still parses; pure.
//! - [`shadow`]: the copy of the project in which proposals are judged, so that nothing unproven touches the original.
//! - [`check`]: the type checker on both sides: the baseline, and the shadow as it then stands.
//! - [`round`]: one check for all proposals of a round, and a bisection for what that one can't tell.
//! - [`judge`]: what is asked of the gate and what it answers.
//! - [`diagnostics`]: what is new after a change, with every place carried through the edits; pure.
//! - [`attribute`]: a new finding and the proposal in whose region it lies; pure.
//!
//! Deliberately absent: what the instruction wanted (`editor` and `harness` know), and any write outside the shadow.

mod attribute;
mod check;
mod diagnostics;
mod error;
mod judge;
mod round;
mod shadow;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use error::GateError;
pub(crate) use judge::{Gate, GateMode, Judgement};
pub(crate) use shape::ShapeFault;
