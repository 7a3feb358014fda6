//! The messages and unions, in the order of their numbers.

use super::{ProtoMessage, ProtoUnion};

const fn message(name: &'static str, schema: &'static str, fields: &'static str) -> ProtoMessage {
    ProtoMessage {
        name,
        schema,
        fields,
    }
}

pub const MESSAGES: &[ProtoMessage] = &[
    message(
        "TextPart",
        "textPart",
        "string id; string sessionID; string messageID; string type; string text; \
         optional bool synthetic; optional bool ignored; optional TextPartTime time; \
         optional google.protobuf.Struct metadata",
    ),
    message(
        "TextPartTime",
        "textPart#PartTime",
        "double start; optional double end",
    ),
    message(
        "ReasoningPart",
        "reasoningPart",
        "string id; string sessionID; string messageID; string type; string text; \
         optional google.protobuf.Struct metadata; ReasoningPartTime time",
    ),
    message(
        "ReasoningPartTime",
        "reasoningPart#PartTime",
        "double start; optional double end",
    ),
    message(
        "SnapshotPart",
        "snapshotPart",
        "string id; string sessionID; string messageID; string type; string snapshot",
    ),
    message(
        "PatchPart",
        "patchPart",
        "string id; string sessionID; string messageID; string type; string hash; \
         repeated string files",
    ),
    message(
        "AgentPart",
        "agentPart",
        "string id; string sessionID; string messageID; string type; string name; \
         optional AgentPartSource source",
    ),
    message(
        "AgentPartSource",
        "agentPart#SourceText",
        "string value; int32 start; int32 end",
    ),
    message(
        "CompactionPart",
        "compactionPart",
        "string id; string sessionID; string messageID; string type; bool auto",
    ),
    message(
        "SubtaskPart",
        "subtaskPart",
        "string id; string sessionID; string messageID; string type; string prompt; \
         string description; string agent; optional string command",
    ),
    message(
        "StepStartPart",
        "stepStartPart",
        "string id; string sessionID; string messageID; string type; \
         optional string snapshot",
    ),
    message(
        "StepFinishPart",
        "stepFinishPart",
        "string id; string sessionID; string messageID; string type; string reason; \
         optional string snapshot; double cost; TokenUsage tokens",
    ),
    message(
        "TokenUsage",
        "stepFinishPart#TokenUsage",
        "double input; double output; double reasoning; CacheTokenUsage cache",
    ),
    message(
        "CacheTokenUsage",
        "stepFinishPart#CacheTokens",
        "double read; double write",
    ),
    message(
        "RetryPart",
        "retryPart",
        "string id; string sessionID; string messageID; string type; double attempt; \
         APIError error; RetryPartTime time",
    ),
    message("RetryPartTime", "retryPart#CreatedTime", "double created"),
    message("APIError", "apiError", "string name; APIErrorData data"),
    message(
        "APIErrorData",
        "apiError/data",
        "string message; optional double statusCode; bool isRetryable; \
         map<string, string> responseHeaders; optional string responseBody; \
         map<string, string> metadata",
    ),
    message(
        "ProviderAuthError",
        "providerAuthError",
        "string name; ProviderAuthErrorData data",
    ),
    message(
        "ProviderAuthErrorData",
        "providerAuthError/data",
        "string providerID; string message",
    ),
    message(
        "UnknownError",
        "unknownError",
        "string name; UnknownErrorData data",
    ),
    message("UnknownErrorData", "unknownError/data", "string message"),
    message(
        "OutputLengthError",
        "outputLengthError",
        "string name; google.protobuf.Struct data",
    ),
    message(
        "AbortedError",
        "abortedError",
        "string name; AbortedErrorData data",
    ),
    message("AbortedErrorData", "abortedError/data", "string message"),
    message(
        "UserMessage",
        "userMessage",
        "string id; string sessionID; string role; UserMessageTime time; \
         optional UserMessageSummary summary; string agent; ModelSelection model; \
         optional string system; map<string, bool> tools; optional string variant",
    ),
    message(
        "UserMessageTime",
        "userMessage#CreatedTime",
        "double created",
    ),
    message(
        "UserMessageSummary",
        "userMessage#UserSummary",
        "optional string title; optional string body; repeated FileDiff diffs",
    ),
    message(
        "ModelSelection",
        "userMessage#ModelRef",
        "string providerID; string modelID",
    ),
    message(
        "AssistantMessage",
        "assistantMessage",
        "string id; string sessionID; string role; AssistantMessageTime time; \
         optional MessageError error; string parentID; string modelID; \
         string providerID; string mode; string agent; AssistantMessagePath path; \
         optional bool summary; double cost; TokenUsage tokens; \
         optional string finish",
    ),
    message(
        "AssistantMessageTime",
        "assistantMessage#AssistantTime",
        "double created; optional double completed",
    ),
    message(
        "AssistantMessagePath",
        "assistantMessage#AssistantPath",
        "string cwd; string root",
    ),
];

/// The parts that the description only names.
pub const TOOL_MESSAGES: &[ProtoMessage] = &[
    message(
        "FilePart",
        "filePart",
        "string id; string sessionID; string messageID; string type; string mime; \
         optional string filename; string url; optional FilePartSource source",
    ),
    message(
        "FilePartSourceText",
        "filePart#SourceText",
        "string value; int32 start; int32 end",
    ),
    message(
        "FileSource",
        "filePart#FileSource",
        "string type; string path; FilePartSourceText text",
    ),
    message(
        "SymbolSource",
        "filePart#SymbolSource",
        "string type; string path; FilePartSourceText text; Range range; string name; \
         int32 kind",
    ),
    message(
        "ResourceSource",
        "filePart#ResourceSource",
        "string type; string clientName; string uri; FilePartSourceText text",
    ),
    message("Range", "filePart#LspRange", "Position start; Position end"),
    message(
        "Position",
        "filePart#LspPosition",
        "int32 line; int32 character",
    ),
    message(
        "ToolPart",
        "toolPart",
        "string id; string sessionID; string messageID; string type; string callID; \
         string tool; ToolState state; optional google.protobuf.Struct metadata",
    ),
    message(
        "ToolStatePending",
        "toolPart#ToolPending",
        "string status; google.protobuf.Struct input; string raw",
    ),
    message(
        "ToolStateRunning",
        "toolPart#ToolRunning",
        "string status; google.protobuf.Struct input; optional string title; \
         optional google.protobuf.Struct metadata; ToolStateRunningTime time",
    ),
    message(
        "ToolStateRunningTime",
        "toolPart#ToolRunningTime",
        "double start",
    ),
    message(
        "ToolStateCompleted",
        "toolPart#ToolCompleted",
        "string status; google.protobuf.Struct input; string output; string title; \
         google.protobuf.Struct metadata; ToolStateCompletedTime time; \
         repeated FilePart attachments",
    ),
    message(
        "ToolStateCompletedTime",
        "toolPart#ToolCompletedTime",
        "double start; double end; optional double compacted",
    ),
    message(
        "ToolStateError",
        "toolPart#ToolError",
        "string status; google.protobuf.Struct input; string error; \
         optional google.protobuf.Struct metadata; ToolStateErrorTime time",
    ),
    message(
        "ToolStateErrorTime",
        "toolPart#ToolErrorTime",
        "double start; double end",
    ),
    message(
        "FileDiff",
        "fileDiff",
        "string file; optional string before; optional string after; double additions; \
         double deletions; optional string patch; optional string status",
    ),
];

pub const UNIONS: &[ProtoUnion] = &[
    ProtoUnion {
        name: "Part",
        oneof: "part",
        discriminator: "type",
        members: &[
            ("text", "TextPart", "text"),
            ("reasoning", "ReasoningPart", "reasoning"),
            ("snapshot", "SnapshotPart", "snapshot"),
            ("patch", "PatchPart", "patch"),
            ("agent", "AgentPart", "agent"),
            ("compaction", "CompactionPart", "compaction"),
            ("subtask", "SubtaskPart", "subtask"),
            ("step-start", "StepStartPart", "step_start"),
            ("step-finish", "StepFinishPart", "step_finish"),
            ("retry", "RetryPart", "retry"),
            ("file", "FilePart", "file"),
            ("tool", "ToolPart", "tool"),
        ],
    },
    ProtoUnion {
        name: "MessageError",
        oneof: "message_error",
        discriminator: "name",
        members: &[
            ("APIError", "APIError", "api_error"),
            (
                "ProviderAuthError",
                "ProviderAuthError",
                "provider_auth_error",
            ),
            ("UnknownError", "UnknownError", "unknown_error"),
            (
                "MessageOutputLengthError",
                "OutputLengthError",
                "output_length_error",
            ),
            ("MessageAbortedError", "AbortedError", "aborted_error"),
        ],
    },
    ProtoUnion {
        name: "Message",
        oneof: "message",
        discriminator: "role",
        members: &[
            ("user", "UserMessage", "user"),
            ("assistant", "AssistantMessage", "assistant"),
        ],
    },
];

pub const TOOL_UNIONS: &[ProtoUnion] = &[
    ProtoUnion {
        name: "FilePartSource",
        oneof: "source",
        discriminator: "type",
        members: &[
            ("file", "FileSource", "file"),
            ("symbol", "SymbolSource", "symbol"),
            ("resource", "ResourceSource", "resource"),
        ],
    },
    ProtoUnion {
        name: "ToolState",
        oneof: "state",
        discriminator: "status",
        members: &[
            ("pending", "ToolStatePending", "pending"),
            ("running", "ToolStateRunning", "running"),
            ("completed", "ToolStateCompleted", "completed"),
            ("error", "ToolStateError", "error"),
        ],
    },
];
