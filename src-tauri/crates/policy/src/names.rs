//! Permissions that are not named after a tool.

pub const EXTERNAL_DIRECTORY: &str = "external_directory";
/// The same call again and again.
pub const DOOM_LOOP: &str = "doom_loop";
/// To reach the network from the sandbox.
pub const NETWORK: &str = "network";
/// To write to a folder outside the project from the sandbox. It is not `external_directory`,
/// because that one is often given for reading.
pub const SANDBOX_WRITE: &str = "sandbox_write";
/// To run one command without the sandbox.
pub const NO_SANDBOX: &str = "no_sandbox";
/// To continue although a limit of the person is reached.
pub const LIMIT: &str = "limit";

/// No tool may have one of these names: a rule for the one would hold for the other.
pub const RESERVED: [&str; 6] = [
    EXTERNAL_DIRECTORY,
    DOOM_LOOP,
    NETWORK,
    SANDBOX_WRITE,
    NO_SANDBOX,
    LIMIT,
];
