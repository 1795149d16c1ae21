package contract

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
)

// Bound returns text that is safe to show: redacted, and at most limit bytes of UTF-8, cut at a rune boundary with "…" inside the
// limit. It is idempotent.
func Bound(text string, limit int) string { return candor.Public(text, limit) }

// Redact returns text without secrets, URL credentials, directories of absolute paths and unsafe characters. Clean text is
// returned unchanged, without allocation. Redact is idempotent and takes linear time. The constructors of package candor apply it
// to every text in an error; use it for other text, such as a log.
func Redact(text string) string { return redact.Text(text) }
