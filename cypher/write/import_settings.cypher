// Store system prompts and tools by hash, each once.
UNWIND $settings AS setting
MERGE (b:Blob {workspace: $workspace, sha256: setting.sha256})
ON CREATE SET b.data = setting.data, b.size = setting.size, b.media_type = 'application/json'
SET b.setting = true, b.unused_since = null
