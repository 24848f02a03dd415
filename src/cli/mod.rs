//! What was typed, what it means here, and what is printed.

/// Runs the command line and says how it ended.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
