package foreign_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/wire"
)

var update = flag.Bool("update", false, "write what is read into the vectors")

// vector is one entry of spec/vectors/foreign: an input, the arguments of the call if they are known, and the facts in it. Members
// of said that are empty, zero or false are omitted.
type vector struct {
	Name  string          `json:"name"`
	Text  *string         `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	RPC   *rpc            `json:"rpc,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"`
	Said  view            `json:"said"`
}

type rpc struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// view is [foreign.Said] in the form of the vectors.
type view struct {
	Text         string         `json:"text,omitempty"`
	Symbols      []string       `json:"symbols,omitempty"`
	Prefixed     bool           `json:"prefixed,omitempty"`
	Number       *int64         `json:"number,omitempty"`
	Status       int            `json:"status,omitempty"`
	Errno        string         `json:"errno,omitempty"`
	Disconnected bool           `json:"disconnected,omitempty"`
	Exception    string         `json:"exception,omitempty"`
	Retryable    *bool          `json:"retryable,omitempty"`
	RetryAfterMs *int64         `json:"retryAfterMs,omitempty"`
	RetryAt      string         `json:"retryAt,omitempty"`
	Issues       []candor.Issue `json:"issues,omitempty"`
	OfRequest    bool           `json:"ofRequest,omitempty"`
	Suggestion   string         `json:"suggestion,omitempty"`
	RequestID    string         `json:"requestId,omitempty"`
	Stack        string         `json:"stack,omitempty"`
	Tool         string         `json:"tool,omitempty"`
	UnknownTool  bool           `json:"unknownTool,omitempty"`
	Masked       bool           `json:"masked,omitempty"`
}

func viewOf(s foreign.Said) view {
	v := view{Text: s.Text, Symbols: s.Symbols, Prefixed: s.Prefixed, Status: s.Status, Errno: s.Errno, Disconnected: s.Disconnected, Exception: s.Exception,
		Retryable: s.Retryable, Issues: s.Issues, OfRequest: s.OfRequest, Suggestion: s.Suggestion, RequestID: s.RequestID, Stack: s.Stack, Tool: s.Tool,
		UnknownTool: s.UnknownTool, Masked: s.Masked}
	if s.Numbered {
		v.Number = &s.Number
	}
	if s.Delayed {
		ms := s.RetryAfter.Milliseconds()
		v.RetryAfterMs = &ms
	}
	if !s.RetryAt.IsZero() {
		v.RetryAt = s.RetryAt.Format(time.RFC3339)
	}
	return v
}

func mustValue(t *testing.T, raw []byte) wire.Value {
	t.Helper()
	if len(raw) == 0 {
		return wire.Value{}
	}
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func (v vector) read(t *testing.T) foreign.Said {
	t.Helper()
	args := mustValue(t, v.Args)
	switch {
	case v.Text != nil:
		return foreign.ReadText(*v.Text, args)
	case v.RPC != nil:
		return foreign.ReadRPC(v.RPC.Code, v.RPC.Message, mustValue(t, v.RPC.Data), args)
	default:
		return foreign.ReadValue(mustValue(t, v.Value), args)
	}
}

func vectorFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "spec", "vectors", "foreign", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	return files
}

func readVectors(t testing.TB, file string) []vector {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return all
}

// TestVectors checks every reader against the language-neutral examples.
func TestVectors(t *testing.T) {
	for _, file := range vectorFiles(t) {
		all := readVectors(t, file)
		for i := range all {
			v := &all[i]
			got := viewOf(v.read(t))
			if *update {
				v.Said = got
				continue
			}
			if a, b := plain(t, got), plain(t, v.Said); !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %s\n got %s\nwant %s", filepath.Base(file), v.Name, encode(t, got), encode(t, v.Said))
			}
		}
		if *update {
			writeVectors(t, file, all)
		}
	}
}

// plain returns a value as its JSON decodes, so that Go types do not matter in a comparison.
func plain(t *testing.T, v view) (out any) {
	t.Helper()
	if err := json.Unmarshal(encode(t, v), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func writeVectors(t *testing.T, file string, all []vector) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
