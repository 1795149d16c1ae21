package foreign_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/wire"
)

// load reads a recording, or skips the test.
func load(t *testing.T, name string) []corpus.Record {
	t.Helper()
	records, err := corpus.Load(name)
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// failures returns the recorded failures.
func failures(t *testing.T) []corpus.Record {
	t.Helper()
	return slices.DeleteFunc(load(t, corpus.Failures), func(r corpus.Record) bool { return !r.Flagged() && !r.Masked() })
}

// schemas maps server and tool to the names of its arguments.
func schemas(t *testing.T) map[string]map[string]bool {
	t.Helper()
	tools, err := corpus.Tools()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]map[string]bool)
	for _, tool := range tools {
		names := make(map[string]bool)
		var schema any
		_ = json.Unmarshal(tool.Input, &schema)
		properties(schema, names)
		out[tool.Server+" "+tool.Name] = names
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

func argumentsOf(r *corpus.Record) wire.Value {
	v, _ := wire.ParseValue(r.Request, wire.Limits{})
	return v.Path("params", "arguments")
}

// read reads a response as package contract does: a JSON-RPC error or a result.
func read(t *testing.T, r *corpus.Record) foreign.Said {
	t.Helper()
	v, err := wire.ParseValue(r.Response, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		t.Fatalf("%s %s: %v", r.Server, r.Case, err)
	}
	if e, ok := v.Get("error"); ok {
		code, _ := e.Path("code").Int64()
		message, _ := e.Path("message").Str()
		return foreign.ReadRPC(code, message, e.Path("data"), argumentsOf(r))
	}
	return foreign.ReadResult(v.Path("result"), argumentsOf(r))
}

func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// TestCorpusFieldsAreNamed measures how many of the fields in the bytes are found, and how many others.
func TestCorpusFieldsAreNamed(t *testing.T) {
	known := schemas(t)
	var total, hit, issues, wrong, judged int
	servers := map[string][2]int{}
	for _, rec := range failures(t) {
		if rec.Group != "validation" || !rec.NamesField || rec.Field == "" {
			continue
		}
		said := read(t, &rec)
		total++
		found := false
		for _, is := range said.Issues {
			issues++
			for _, f := range strings.Split(rec.Field, ",") {
				found = found || last(is.Path) == f
			}
			if names := known[rec.Server+" "+rec.Tool]; names != nil && !said.OfRequest && is.Path != "" {
				judged++
				if !names[last(is.Path)] && !strings.Contains(string(argumentsOf(&rec).Raw()), `"`+last(is.Path)+`"`) && strings.Trim(last(is.Path), "0123456789") != "" {
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
			t.Logf("missed %s %s %s: %v in %.500s args %s", rec.Server, rec.Case, rec.Field, said.Issues, rec.Response, argumentsOf(&rec).Raw())
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

var statusPhrases = map[string][]string{
	"up_401": {"401", "Unauthorized"}, "up_404": {"404", "Not Found"}, "up_429": {"429", "Too Many Requests"}, "up_500": {"500", "Internal Server Error"},
}

// TestCorpusStatusesAreFound measures how many statuses that are in the bytes, as a number or by their phrase, are found.
func TestCorpusStatusesAreFound(t *testing.T) {
	var total, hit, other int
	for _, rec := range failures(t) {
		marks := statusPhrases[rec.Case]
		if marks == nil {
			continue
		}
		said := read(t, &rec)
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
