package schema

import (
	"bytes"
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor/wire"
)

// The validator cannot be stopped, so its work is estimated first. Cheap values are explained, others only checked, and the most
// expensive ones are reported as unchecked.

// Bounds of a check. A step takes about a tenth of a microsecond and, in a check that explains, at most about a kilobyte.
const (
	maxSteps     = 700_000  // of a check
	explainSteps = 70_000   // of a check that explains what is wrong
	maxDecoded   = 24 << 20 // bytes of memory for the decoded value
)

// check runs the validator on v and returns what it found. If a limit stopped it, check returns that limit in words.
func (s *Schema) check(v wire.Value) (found []finding, limit string) {
	if decodedSize(v.Raw()) > maxDecoded {
		return nil, "it is too large, or has too many values"
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.Raw()))
	if err != nil {
		return nil, "it cannot be decoded"
	}
	work := cost{left: maxSteps}
	switch affords := work.affords(s.root, decoded); {
	case work.insane:
		return nil, "it contains a number that is too large"
	case !affords:
		return nil, "comparing it with the schema takes too many steps"
	}
	if maxSteps-work.left > explainSteps {
		refuses := jsonschema.Schema{DraftVersion: s.root.DraftVersion, Location: s.root.Location, Not: s.root}
		if refuses.Validate(decoded) == nil { // stops at the first error
			found = []finding{{at: s.root.Location, what: &tooLarge{}, value: decoded}}
		}
		return found, ""
	}
	var invalid *jsonschema.ValidationError
	if errors.As(s.root.Validate(decoded), &invalid) {
		found = leaves(invalid)
		for i := range found {
			found[i].value = decoded
		}
	}
	return found, ""
}

// tooLarge is the finding for an invalid value that is too large to explain.
type tooLarge struct{ kind.Schema }

// decodedSize returns an upper estimate of the memory for decoding a text, from the number of its values.
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
