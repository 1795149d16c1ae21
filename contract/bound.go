package contract

import "github.com/candor-mcp/candor"

// Bound returns text that may be shown: redacted, and at most limit bytes of UTF-8, cut on a rune border with "…" inside the bound.
// It is idempotent.
func Bound(text string, limit int) string { return candor.Public(text, limit) }

// BoundJSON returns a JSON value within the bounds of an error's details: bytes, depth, items and texts. What does not fit is cut
// and marked; secrets are gone. Text that is not one JSON value is refused. It is idempotent.
func BoundJSON(raw []byte) ([]byte, error) {
	d, err := candor.ParseDetails(raw)
	if err != nil {
		return nil, err
	}
	return []byte(d.String()), nil
}
