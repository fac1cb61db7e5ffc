package model

import "strings"

// Sized is a Model that knows its context size, such as one that the editor lends.
type Sized interface {
	Model
	// ContextTokens is how many tokens a request and its answer may have together; 0 for no bound.
	ContextTokens() int64
}

// ContextTokens returns how many tokens a request to the model and its answer may have together, 0 for no bound. A
// Sized model says it itself; for others, the name decides.
func ContextTokens(m Model) int64 {
	if sized, ok := m.(Sized); ok {
		return sized.ContextTokens()
	}
	return KnownContext(m.Name())
}

// unknownContext is assumed for a model that is not among contexts. If it is too small, a summary comes too early; if
// it is too large, the provider's refusal corrects it.
const unknownContext = 128_000

// contexts are the context sizes of well-known models by the beginning of their ids; the longest beginning counts. The
// sizes come from the vendors' lists of models; where a list bounds requests apart from answers, it is the bound for
// requests.
var contexts = map[string]int64{
	"claude-": 200_000, "claude-2": 100_000, "claude-instant": 100_000,
	"gpt-5": 272_000, "gpt-4.1": 1_047_576, "gpt-4o": 128_000, "gpt-4-turbo": 128_000, "gpt-4": 8_192,
	"gpt-3.5": 16_385,
	"gpt-oss": 131_072, "chatgpt-4o": 128_000, "codex-mini": 200_000,
	"o1": 200_000, "o1-mini": 128_000, "o1-preview": 128_000, "o3": 200_000, "o4": 200_000,
	"gemini-": 1_048_576, "gemini-1.5-pro": 2_097_152,
	"gemma": 8_192, "gemma3": 131_072, "gemma-3": 131_072,
	"llama3": 8_192, "llama-3": 8_192, "llama3.": 131_072, "llama-3.": 131_072, "llama4": 1_048_576,
	"llama-4": 1_048_576,
	"qwen2.5": 32_768, "qwen3": 40_960, "qwen3-coder": 262_144, "qwq": 32_768,
	"mistral": 131_072, "mistral:": 32_768, "mixtral": 32_768, "codestral": 262_144, "devstral": 131_072,
	"magistral": 40_960, "ministral": 131_072,
	"deepseek": 131_072, "kimi-k2": 131_072, "glm-4": 131_072, "grok-3": 131_072, "grok-4": 262_144,
	"grok-code": 262_144,
	"phi3":      131_072, "phi-3": 131_072, "phi4": 16_384, "phi-4": 16_384,
}

// KnownContext returns how many tokens a request to a model and its answer may have together, by its name,
// "provider/model"; 0 for no bound. Resellers put the vendor between provider and model. The bound for an unknown model
// is safe for today's models.
func KnownContext(name string) int64 {
	provider, id, _ := strings.Cut(name, "/")
	if provider == "offline" {
		return 0 // the rules read their own conversation, whatever its length
	}
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	size, length := int64(unknownContext), 0
	for prefix, tokens := range contexts {
		if len(prefix) > length && strings.HasPrefix(id, prefix) {
			size, length = tokens, len(prefix)
		}
	}
	return size
}
