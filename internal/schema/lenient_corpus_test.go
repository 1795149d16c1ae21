package schema_test

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// serverTool is a tool of one recorded server.
type serverTool struct{ server, tool string }

// recordedInputs returns the input schemas of all recorded servers. A tool that cannot be checked has nil.
func recordedInputs(t *testing.T) map[serverTool]*schema.Schema {
	t.Helper()
	inputs := map[serverTool]*schema.Schema{}
	for _, tool := range recordedTools(t) {
		s, err := schema.Compile(tool.Input)
		if err != nil || s.Useless() {
			s = nil
		}
		inputs[serverTool{tool.Server, tool.Name}] = s
	}
	return inputs
}

// tally counts calls of one outcome.
type tally struct{ calls, strict, lenient, misspelt int }

// Calls that real servers accepted are not refused by lenient validation. A misspelt optional key, which a server silently ignores, may
// be. Of calls that servers answered in silence, without a required argument for instance, most are refused.
func TestLenientRefusesNoCallThatARealServerAccepted(t *testing.T) {
	t.Parallel()
	inputs := recordedInputs(t)
	tallies := map[string]*tally{"accepted": {}, "variants": {}, "silent": {}, "failed": {}}
	for _, name := range []string{corpus.Failures, corpus.Successes} {
		records, err := corpus.Load(name)
		if errors.Is(err, corpus.ErrAbsent) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			tool, arguments, ok := toolCallOf(&r)
			s := inputs[serverTool{r.Server, tool}]
			if !ok || s == nil {
				continue
			}
			switch {
			case r.Success() || r.Pattern == "silent_success" && r.Case == "extra_property":
				if tallies["accepted"].add(s, arguments) {
					t.Errorf("%s, %s: a call that the server accepted is refused: %.200s", r.Server, tool, arguments)
				}
				for _, v := range looseVariants(arguments) {
					if tallies["variants"].add(s, v) {
						t.Errorf("%s, %s: a variant without loss is refused: %.200s", r.Server, tool, v)
					}
				}
			case r.Pattern == "silent_success":
				tallies["silent"].add(s, arguments)
			default:
				tallies["failed"].add(s, arguments)
			}
		}
	}
	for _, outcome := range []string{"accepted", "variants", "silent", "failed"} {
		y := tallies[outcome]
		t.Logf("%-8s %5d calls, strict refuses %5d, lenient %5d, and %d with a misspelt key alone", outcome, y.calls, y.strict, y.lenient, y.misspelt)
	}
	if tallies["accepted"].calls < 1500 || tallies["variants"].strict < 1000 {
		t.Error("too few calls to prove anything")
	}
	if y := tallies["failed"]; y.lenient*10 < y.strict*7 {
		t.Errorf("of %d failing calls strict refuses %d and lenient only %d", y.calls, y.strict, y.lenient)
	}
}

func toolCallOf(r *corpus.Record) (tool string, arguments json.RawMessage, ok bool) {
	var request struct {
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if json.Unmarshal(r.Request, &request) != nil || request.Method != "tools/call" {
		return "", nil, false
	}
	return request.Params.Name, request.Params.Arguments, true
}

// looseVariants returns a call with an unknown key, and with each argument written in another type from which it can be read back.
func looseVariants(arguments json.RawMessage) []json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil {
		return nil
	}
	with := func(key string, value json.RawMessage) json.RawMessage {
		changed := maps.Clone(given)
		if changed == nil {
			changed = map[string]json.RawMessage{}
		}
		changed[key] = value
		out, _ := json.Marshal(changed)
		return out
	}
	variants := []json.RawMessage{with("zz_candor_extra", json.RawMessage(`1`))}
	for key, value := range given {
		if value[0] != '"' && string(value) != "null" {
			text, _ := json.Marshal(string(value))
			variants = append(variants, with(key, text))
		}
	}
	return variants
}

// add counts a call, and reports whether lenient validation refuses it for anything but a misspelt key.
func (y *tally) add(s *schema.Schema, arguments json.RawMessage) (refused bool) {
	y.calls++
	got := s.Explain(arguments)
	if got.OK() {
		return false
	}
	y.strict++
	switch {
	case !got.Fatal:
	case onlyUnknownKeys(got):
		y.misspelt++
	default:
		y.lenient++
		return true
	}
	return false
}

// onlyUnknownKeys reports arguments with an unknown key as their only fault.
func onlyUnknownKeys(r schema.Report) bool {
	for _, issue := range r.Issues {
		if issue.Rule != schema.RuleUnknownKey {
			return false
		}
	}
	return true
}
