//! Compiles the .proto files, without a `protoc` on the machine.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(["message.proto"], ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // For conversions that go by the names of fields.
    let bytes = prost::Message::encode_to_vec(&files);
    fs::write(out.join("descriptor.bin"), bytes)?;
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds(files)?;
    Ok(())
}
