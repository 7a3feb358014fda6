//! Tool servers that the person configures in the window.

use lathe_protocol::ipc::McpServerInput;
use lathe_records::Result;

use super::Sessions;

impl Sessions {
    pub async fn read_mcp(&self, name: &str) -> Result<McpServerInput> {
        self.core.workspace.read_mcp(name).await
    }

    pub async fn save_mcp(&self, name: &str, server: McpServerInput) -> Result<()> {
        self.core.workspace.save_mcp(name, server).await
    }

    pub async fn remove_mcp(&self, name: &str) -> Result<()> {
        self.core.workspace.remove_mcp(name).await
    }
}
