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
	Codes        []string        `json:"codes,omitempty"` // that it declares in _meta["dev.candor/codes"]
}

// Annotations are the hints of a tool, nil where it gives none.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// IsReadOnly reports a tool that says that it changes nothing, and does not say in the same breath that it may destroy something.
func (t *Tool) IsReadOnly() bool { return says(t.Annotations.ReadOnly) && !t.MayDestroy() }

// MayDestroy reports a tool that says itself that it may destroy something. One that says nothing is not one of them.
func (t *Tool) MayDestroy() bool { return says(t.Annotations.Destructive) }

func says(hint *bool) bool { return hint != nil && *hint }
