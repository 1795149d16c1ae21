package schema

import (
	"bytes"
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor/wire"
)

// The validator decodes everything, finds everything and cannot be stopped. So its work is estimated first: a value that it can explain
// quickly is explained, one that takes longer is only checked, and the rest is reported as unchecked.

// Bounds of a check. A step takes about a tenth of a microsecond and, in a check that explains, at most about a kilobyte.
const (
	maxSteps     = 700_000  // of a check
	explainSteps = 70_000   // of a check that explains what is wrong
	maxDecoded   = 24 << 20 // bytes of memory for the decoded value
)

// check runs the validator on v and returns what it found. It is not ok if something was not checked.
func (s *Schema) check(v wire.Value) (found []finding, ok bool) {
	if decodedSize(v.Raw()) > maxDecoded {
		return nil, false
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.Raw()))
	if err != nil {
		return nil, false
	}
	work := cost{left: maxSteps}
	if !work.affords(s.root, decoded) || work.insane {
		return nil, false
	}
	if maxSteps-work.left > explainSteps {
		refuses := jsonschema.Schema{DraftVersion: s.root.DraftVersion, Location: s.root.Location, Not: s.root}
		if refuses.Validate(decoded) == nil { // stops at the first error
			found = []finding{{at: s.root.Location, what: &tooLarge{}, value: decoded}}
		}
		return found, true
	}
	var invalid *jsonschema.ValidationError
	if errors.As(s.root.Validate(decoded), &invalid) {
		found = leaves(invalid)
		for i := range found {
			found[i].value = decoded
		}
	}
	return found, true
}

// tooLarge is the finding that something is wrong somewhere in a value.
type tooLarge struct{ kind.Schema }

// decodedSize guesses from above how much memory it takes to decode a text, by what begins an object or another value.
func decodedSize(raw []byte) int {
	const perByte, perObject, perValue = 3, 400, 160
	size := perByte * len(raw)
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{':
			size += perObject
		case '[', ',':
			size += perValue
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return size
}
