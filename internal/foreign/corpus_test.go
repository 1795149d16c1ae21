package foreign_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/wire"
)

// record is one exchange with a real server. The corpus is not in the repository.
type record struct {
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`
	Group   string          `json:"group"`
	Case    string          `json:"case"`
	Pattern string          `json:"pattern"`
	Field   json.RawMessage `json:"field"`
	Names   bool            `json:"names_field"`
	Kept    bool            `json:"retry_after_kept"`
	Request struct {
		Params struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	} `json:"request"`
	Response json.RawMessage `json:"response"`
}

// corpusFile opens a file of the corpus, or skips the test.
func corpusFile(t *testing.T, name string) *bufio.Scanner {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "corpus", name)
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("the corpus of real servers is not here (%s): this test measures on it and is skipped without it", name)
	}
	t.Cleanup(func() { _ = f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	return lines
}

func corpus(t *testing.T) []record {
	t.Helper()
	var out []record
	for lines := corpusFile(t, "real-servers.jsonl.gz"); lines.Scan(); {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Pattern == "protocol_error" || strings.HasPrefix(r.Pattern, "isError_") || strings.HasPrefix(r.Pattern, "success_masking_") {
			out = append(out, r)
		}
	}
	return out
}

// schemas maps server and tool to the names of its arguments.
func schemas(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := make(map[string]map[string]bool)
	for lines := corpusFile(t, "tools.jsonl.gz"); lines.Scan(); {
		var line struct {
			Server string `json:"server"`
			Tools  []struct {
				Name   string `json:"name"`
				Schema any    `json:"inputSchema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		for _, tool := range line.Tools {
			names := make(map[string]bool)
			properties(tool.Schema, names)
			out[line.Server+" "+tool.Name] = names
		}
	}
	return out
}

// properties collects the names of all properties of a schema.
func properties(schema any, into map[string]bool) {
	switch s := schema.(type) {
	case []any:
		for _, e := range s {
			properties(e, into)
		}
	case map[string]any:
		if props, ok := s["properties"].(map[string]any); ok {
			for name := range props {
				into[name] = true
			}
		}
		for _, v := range s {
			properties(v, into)
		}
	}
}

func (r record) args() wire.Value {
	v, err := wire.ParseValue(r.Request.Params.Arguments, wire.Limits{})
	if err != nil {
		return wire.Value{}
	}
	return v
}

// read reads a response as package contract does: a JSON-RPC error or a result.
func (r record) read(t *testing.T) foreign.Said {
	t.Helper()
	v, err := wire.ParseValue(r.Response, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		t.Fatalf("%s %s: %v", r.Server, r.Case, err)
	}
	if e, ok := v.Get("error"); ok {
		code, _ := e.Path("code").Int64()
		message, _ := e.Path("message").Str()
		return foreign.ReadRPC(code, message, e.Path("data"), r.args())
	}
	return foreign.ReadResult(v.Path("result"), r.args())
}

func (r record) fieldNames() []string {
	var one string
	var many []string
	if json.Unmarshal(r.Field, &one) == nil {
		many = strings.Split(one, ",")
	} else {
		_ = json.Unmarshal(r.Field, &many)
	}
	return many
}

func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// TestCorpusFieldsAreNamed measures how many of the fields in the bytes are found, and how many others.
func TestCorpusFieldsAreNamed(t *testing.T) {
	known := schemas(t)
	var total, hit, issues, wrong, judged int
	servers := map[string][2]int{}
	for _, rec := range corpus(t) {
		if rec.Group != "validation" || !rec.Names || len(rec.Field) == 0 || string(rec.Field) == "null" {
			continue
		}
		said := rec.read(t)
		total++
		found := false
		for _, is := range said.Issues {
			issues++
			for _, f := range rec.fieldNames() {
				found = found || last(is.Path) == f
			}
			if names := known[rec.Server+" "+rec.Tool]; names != nil && !said.OfRequest && is.Path != "" {
				judged++
				if !names[last(is.Path)] && !strings.Contains(string(rec.Request.Params.Arguments), `"`+last(is.Path)+`"`) && strings.Trim(last(is.Path), "0123456789") != "" {
					wrong++
					t.Logf("odd name %s %s: %q in %.300s", rec.Server, rec.Case, is.Path, rec.Response)
				}
			}
		}
		n := servers[rec.Server]
		n[1]++
		if found {
			hit++
			n[0]++
		} else {
			t.Logf("missed %s %s %s: %v in %.500s args %s", rec.Server, rec.Case, rec.Field, said.Issues, rec.Response, rec.Request.Params.Arguments)
		}
		servers[rec.Server] = n
	}
	var perServer float64
	for _, n := range servers {
		perServer += float64(n[0]) / float64(n[1])
	}
	t.Logf("fields: %d of %d records (%.1f %%), mean over %d servers %.1f %%; %.2f issues per record; %d of %d issues name no argument of the tool", hit, total, 100*float64(hit)/float64(total),
		len(servers), 100*perServer/float64(len(servers)), float64(issues)/float64(total), wrong, judged)
	if hit*100 < total*97 {
		t.Errorf("found the field in %d of %d records, want 97 %%", hit, total)
	}
	if wrong*100 > judged {
		t.Errorf("%d of %d issues name no argument of the tool, want at most 1 %%", wrong, judged)
	}
}

// mislabelled reports whether the label of a record is provably wrong. One record is marked as keeping the upstream's Retry-After,
// but its bytes have neither the word "retry" nor a number of seconds.
func mislabelled(rec record) bool {
	return rec.Kept && !strings.Contains(strings.ToLower(string(rec.Response)), "retry")
}

// TestCorpusDelaysAreKept measures how many delays that reached the client are found.
func TestCorpusDelaysAreKept(t *testing.T) {
	var kept, got, moments, elsewhere int
	for _, rec := range corpus(t) {
		if rec.Group != "upstream" {
			continue
		}
		said := rec.read(t)
		if rec.Case == "up_429" && rec.Kept && !mislabelled(rec) {
			kept++
			if said.Delayed && said.RetryAfter == 7*time.Second {
				got++
			} else {
				t.Logf("kept but not found: %v %.3000s", said.RetryAfter, rec.Response)
			}
		} else if said.Delayed {
			elsewhere++
			t.Logf("%s %s: %v in %.400s", rec.Server, rec.Case, said.RetryAfter, rec.Response)
		}
		if !said.RetryAt.IsZero() {
			moments++
		}
	}
	t.Logf("delays: %d of %d kept ones, %d more, %d points in time", got, kept, elsewhere, moments)
	if got != kept {
		t.Errorf("found %d of %d delays", got, kept)
	}
}

var statusPhrases = map[string][]string{
	"up_401": {"401", "Unauthorized"}, "up_404": {"404", "Not Found"}, "up_429": {"429", "Too Many Requests"}, "up_500": {"500", "Internal Server Error"},
}

// TestCorpusStatusesAreFound measures how many statuses that are in the bytes, as a number or by their phrase, are found.
func TestCorpusStatusesAreFound(t *testing.T) {
	var total, hit, other int
	for _, rec := range corpus(t) {
		marks := statusPhrases[rec.Case]
		if marks == nil {
			continue
		}
		said := rec.read(t)
		if !standsIn(string(rec.Response), marks) {
			if said.Status != 0 && said.Status != statusNumber(rec.Case) {
				other++
				t.Logf("other status %d: %s %s %.400s", said.Status, rec.Server, rec.Case, rec.Response)
			}
			continue
		}
		total++
		if said.Status == statusNumber(rec.Case) {
			hit++
		} else {
			t.Logf("missed %s %s: %d in %.600s", rec.Server, rec.Case, said.Status, rec.Response)
		}
	}
	t.Logf("statuses: %d of %d (%.1f %%), %d times another one", hit, total, 100*float64(hit)/float64(total), other)
	if hit*100 < total*97 {
		t.Errorf("found %d of %d statuses, want 97 %%", hit, total)
	}
}

func statusNumber(name string) int {
	return map[string]int{"up_401": 401, "up_404": 404, "up_429": 429, "up_500": 500}[name]
}

func standsIn(s string, marks []string) bool {
	for _, m := range marks {
		for rest := s; ; {
			i := strings.Index(rest, m)
			if i < 0 {
				break
			}
			if !digitAt(rest, i-1) && !digitAt(rest, i+len(m)) {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

func digitAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] == '-' || s[i] == '_')
}
