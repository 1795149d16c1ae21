package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// laterVectors returns the inputs of the dialect candor by vector name: those that a reader accepts, and those that it
// refuses.
func laterVectors(t *testing.T) (accepted, refused map[string]json.RawMessage) {
	t.Helper()
	raw, err := os.ReadFile("../../../spec/vectors/dialect/candor.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Refused string          `json:"refused"`
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	accepted, refused = map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, r := range rows {
		var envelope struct{ Code *string }
		if json.Unmarshal(r.Input, &envelope) != nil || envelope.Code == nil {
			continue // a carrier
		}
		if r.Refused == "" {
			accepted[r.Name] = r.Input
		} else {
			refused[r.Name] = r.Input
		}
	}
	return accepted, refused
}

func TestReadSchemaAcceptsErrorsOfALaterVersion(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../../spec/schema/error-read.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	accepted, _ := laterVectors(t)
	for name, input := range accepted {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(accepted) < 4 {
		t.Errorf("only %d vectors", len(accepted))
	}
}

// TestPythonReadsErrorsOfALaterVersion runs the Python binding over the vectors of the contract.
func TestPythonReadsErrorsOfALaterVersion(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	const program = `import json, sys
sys.path.insert(0, "../../../spec/python")
import candor_codes
accepted, refused = json.load(sys.stdin)
for name, error in accepted.items():
    read = candor_codes.read_candor_error(error)
    if read is None or any(read[m] != error.get(m, read[m]) for m in ("code", "message", "retry", "ref")) or not read["message"] or read["class"] not in (error["class"], "internal"):
        print("not read:", name, read)
for name, error in refused.items():
    if candor_codes.read_candor_error(error) is not None:
        print("not refused:", name)
`
	accepted, refused := laterVectors(t)
	input, err := json.Marshal([]any{accepted, refused})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", program)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
