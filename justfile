# Recipes for people and for CI, which calls the same ones. `just` alone lists them.

set shell := ["bash", "-euo", "pipefail", "-c"]

# The oldest Rust that must build this; the manifest says the same.
msrv := "1.95"

# List the recipes
default:
    @{{ just_executable() }} --list --unsorted

# Scout, edit, gate and oracle on copies of d4 and d7: `just demo`, `just demo d4 --base-url URL`
demo *ARGS:
    cargo run --release --quiet -- demo {{ ARGS }}

# All tests; arguments go to `cargo test`
test *ARGS:
    cargo test {{ ARGS }}

# What must pass before a commit: format, lints, tests, the build without the model editor
check: fmt lint test core

# Formatting, looked at but not changed
fmt:
    cargo fmt --check

# Lints, as errors
lint:
    cargo clippy --all-targets -- -D warnings

# The build without the model editor and without any HTTP client
core:
    cargo clippy --no-default-features --all-targets -- -D warnings

# The documentation of every item, warnings as errors
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items

# One case of fixtures/cases by name: `just case scout-d4`
case NAME:
    INSTA_GLOB_FILTER='{{ NAME }}/*' cargo test --test suite cases::

# Accept what the cases print now as their snapshots; then read the difference
bless:
    INSTA_UPDATE=always INSTA_FORCE_PASS=1 cargo test --test suite cases::
    git --no-pager diff --stat -- fixtures/cases

# Licences, sources, banned crates; then known advisories
deny:
    cargo deny check bans licenses sources
    cargo deny check advisories

# The oldest supported Rust still builds everything
msrv:
    cargo +{{ msrv }} check --all-targets --locked

# All tests, with a real local model for those that want one
live:
    bash .ci/run

# A method of a real package with many callers, scouted and edited without writing
real SYMBOL="Console.print" PACKAGE="rich==14.1.0" INSTRUCTION="pass `markup=False`":
    #!/usr/bin/env bash
    set -euo pipefail
    folder=target/real
    mkdir -p "$folder"
    python3 -m pip download --quiet --no-deps --no-binary :all: -d "$folder" '{{ PACKAGE }}'
    source=$(ls -t "$folder"/*.tar.gz | head -n 1)
    rm -rf "$folder/tree" && mkdir "$folder/tree"
    tar -xzf "$source" -C "$folder/tree" --strip-components 1
    time cargo run --release --quiet -- scout '{{ SYMBOL }}' "$folder/tree"
    time cargo run --release --quiet -- edit '{{ SYMBOL }}' "$folder/tree" --instruction '{{ INSTRUCTION }}' --dry-run

# tainie beside its peers, on generated trees, Django and sympy: `just bench`, `just bench small django`
bench *ARGS:
    cargo build --release --quiet
    python3 bench/bench.py {{ ARGS }}

# The census of a tree against `grep -ow` and pyrefly's references: `just census target/real/tree --symbols 50`
census TREE *ARGS:
    cargo build --release --quiet
    python3 bench/census.py {{ TREE }} {{ ARGS }}

# The same worklist from 20 runs, with one thread and with several: `just same target/real/tree Console.print`
same TREE SYMBOL *ARGS:
    cargo build --release --quiet
    python3 bench/same.py {{ TREE }} {{ SYMBOL }} {{ ARGS }}

# What of a scout's processor time and memory is tainie's own: `just own target/real/tree Console.print`
own TREE SYMBOL *ARGS:
    cargo build --release --quiet
    python3 bench/own.py {{ TREE }} {{ SYMBOL }} {{ ARGS }}

# Check that the tree is ready and tag it: `just release 0.2.0`
release VERSION: check deny
    test -z "$(git status --porcelain)" || { echo "the tree has changes that are not committed" >&2; exit 1; }
    grep -q '^version = "{{ VERSION }}"$' Cargo.toml || { echo "Cargo.toml says another version" >&2; exit 1; }
    grep -q '^## {{ VERSION }}' CHANGELOG.md || { echo "CHANGELOG.md has no section {{ VERSION }}" >&2; exit 1; }
    cargo package --locked
    git tag -a 'v{{ VERSION }}' -m 'tainie {{ VERSION }}'
    @echo "tagged v{{ VERSION }}; push it with: git push origin v{{ VERSION }}"
