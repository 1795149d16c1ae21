package probe

import "encoding/json"

// Tool is a tool as the server lists it.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  Annotations     `json:"annotations,omitzero"`
	Codes        []string        `json:"codes,omitempty"` // codes declared in _meta["dev.candor/codes"]
}

// Annotations are the hints of a tool, nil for those that it does not give.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// IsReadOnly reports whether the tool declares itself read-only and not destructive.
func (t *Tool) IsReadOnly() bool { return isTrue(t.Annotations.ReadOnly) && !t.MayDestroy() }

// MayDestroy reports whether the tool declares itself destructive.
func (t *Tool) MayDestroy() bool { return isTrue(t.Annotations.Destructive) }

func isTrue(hint *bool) bool { return hint != nil && *hint }
