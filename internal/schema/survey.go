package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor/wire"
)

// The validator decodes everything, finds everything and cannot be stopped. So it is given what it can finish quickly: a small
// value as a whole, and a large one piece by piece until there are enough findings. A value is divided only where the schema
// applies to the pieces as it does to the whole.

// Bounds of a survey. A step takes about a tenth of a microsecond and, in a check that explains, at most about a kilobyte.
const (
	maxSteps     = 700_000       // of all checks together
	explainSteps = 70_000        // of one check that explains what is wrong
	explainBytes = 64 << 10      // that are decoded for explaining
	heldBytes    = 24 << 20      // of memory for one piece that is only checked
	enough       = 1000          // findings
	plenty       = 2 * maxIssues // findings in one list, which are mostly the same
)

// survey is one check of a value, in bounded time and memory. It notes what it could not check.
type survey struct {
	schema *Schema
	steps  int
	read   reach

	found  []finding
	insane bool // a number was met that cannot be worked with
	unsure bool // not everything was checked
}

// done reports that further checks are useless.
func (y *survey) done() bool { return y.insane || len(y.found) >= enough || y.steps <= 0 || y.read < 0 }

// value checks v, to which the steps lead, against s.
func (y *survey) value(s *jsonschema.Schema, v wire.Value, steps []string) {
	if y.read.spend(v); y.done() {
		y.unsure = true
		return
	}
	large := len(v.Raw()) > explainBytes
	if large && v.Type() == wire.TypeNumber && typesOf(s).admits(wire.TypeNumber) {
		y.insane = true
		return
	}
	switch {
	case !large && y.explain(s, v, steps):
	case y.insane || y.apart(s, v, steps):
	case large && v.Type() == wire.TypeString && y.explain(s, v, steps):
	default:
		y.check(s, v, steps)
	}
}

// explain runs the validator on a piece. It returns false, having found nothing, if that would take too long.
func (y *survey) explain(s *jsonschema.Schema, v wire.Value, steps []string) bool {
	decoded, ok := y.decode(v)
	if !ok || !y.affords(s, decoded, explainSteps) {
		return false
	}
	var invalid *jsonschema.ValidationError
	if errors.As(s.Validate(decoded), &invalid) {
		y.add(leaves(invalid), decodedPart{decoded, len(steps)}, steps)
	}
	return true
}

// check asks the validator only whether a piece is valid, which takes less.
func (y *survey) check(s *jsonschema.Schema, v wire.Value, steps []string) {
	decoded, ok := y.decode(v)
	if !ok || !y.affords(s, decoded, y.steps) {
		y.unsure = true
		return
	}
	refuses := jsonschema.Schema{DraftVersion: s.DraftVersion, Location: s.Location, Not: s}
	if refuses.Validate(decoded) == nil {
		y.note(s, &tooLarge{}, steps, hollow(v))
	}
}

// tooLarge is the finding that something is wrong somewhere in a piece.
type tooLarge struct{ kind.Schema }

// affords charges for a check of at most that many steps.
func (y *survey) affords(s *jsonschema.Schema, decoded any, most int) bool {
	most = min(most, y.steps)
	work := cost{left: most}
	ok := work.affords(s, decoded)
	y.steps -= most - max(work.left, 0)
	y.insane = y.insane || ok && work.insane
	return ok && !y.insane
}

// decode decodes a piece, if there are memory and steps for it.
func (y *survey) decode(v wire.Value) (any, bool) {
	const perPiece, perStep = 16, 64 // steps, and bytes of memory in a step
	size := decodedSize(v.Raw())
	if size > heldBytes || y.steps < size/perStep {
		return nil, false
	}
	y.steps -= perPiece + size/perStep
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.Raw()))
	return decoded, err == nil
}

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

// note adds a finding that the validator did not make.
func (y *survey) note(s *jsonschema.Schema, what jsonschema.ErrorKind, steps []string, value any) {
	y.add([]finding{{at: s.Location, what: what}}, decodedPart{value, len(steps)}, steps)
}

// add adds findings made in the part at the end of the steps.
func (y *survey) add(found []finding, in decodedPart, steps []string) {
	for i := range found {
		f := &found[i]
		f.in = in
		if len(steps) == 0 {
			continue
		}
		f.steps = slices.Concat(steps, f.steps)
		if _, ok := f.what.(*kind.FalseSchema); ok {
			f.key = f.steps[len(f.steps)-1]
		}
	}
	y.found = append(y.found, found...)
}

// outline is hollow for a value of the wrong type. A text that seems to hold JSON has an empty list or object as its text.
func outline(v wire.Value) any {
	if v.Type() != wire.TypeString {
		return hollow(v)
	}
	text, _ := v.StrBytes()
	switch text = bytes.TrimSpace(text); {
	case bytes.HasPrefix(text, []byte{'['}):
		return "[]"
	case bytes.HasPrefix(text, []byte{'{'}):
		return "{}"
	default:
		return largeText
	}
}

// largeText stands for a text that was not looked into. It reads as nothing but a text.
const largeText = "…"

// hollow returns a value of the same type with nothing in it.
func hollow(v wire.Value) any {
	switch v.Type() {
	case wire.TypeObject:
		return map[string]any{}
	case wire.TypeArray:
		return []any{}
	case wire.TypeNumber:
		return json.Number("0")
	case wire.TypeBool:
		return false
	case wire.TypeNull:
		return nil
	default:
		return ""
	}
}
