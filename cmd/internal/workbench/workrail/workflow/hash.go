package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/candor-mcp/candor/cmd/internal/jsonvalue"
)

// JSON returns the canonical text of the workflow, which does not depend on the formatting of its file. Defaults are
// written out. [Parse] reads the text back to an equal workflow.
//
// The error is for workflows that were not made by [Parse] and contain a value that is not JSON.
func (w *Workflow) JSON() ([]byte, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("writing workflow %q: %w", w.ID, err)
	}
	return canonical(text)
}

// canonical returns the canonical form of a JSON text.
func canonical(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return jsonvalue.Append(nil, v)
}

// Hash returns the SHA-256 of [Workflow.JSON] in hexadecimal, or "" if there is an error. Two files have the same hash
// if and only if they define the same workflow.
func (w *Workflow) Hash() string {
	text, err := w.JSON()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
