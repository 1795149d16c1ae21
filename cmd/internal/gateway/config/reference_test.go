package config

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/internal/schema"
)

const page = "../../../../docs/gateway.md"

// held compares a text with the checked-in file, or writes it if -update is given.
func held(t *testing.T, name, got string) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the table of keys says; go test ./cmd/internal/gateway/config -update writes it (- checked in, + the table):\n%s", name, diff)
	}
}

func TestSchemasAreCurrent(t *testing.T) {
	held(t, "candor.schema.json", string(Schema()))
	held(t, "profile.schema.json", string(ProfileSchema()))
}

// TestTheReferenceInTheDocumentationIsCurrent compares the part of the page between the marks.
func TestTheReferenceInTheDocumentationIsCurrent(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for mark, keys := range map[string][]key{"keys": (&draft{}).keys(), "profile": profileTable()} {
		begin, end := "<!-- "+mark+": written by go test ./cmd/internal/gateway/config -update -->\n", "<!-- /"+mark+" -->"
		before, rest, ok := strings.Cut(string(text), begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no marks %q and %q", page, begin, end)
		}
		text = []byte(before + begin + reference(keys) + end + after)
	}
	held(t, page, string(text))
}

func profileTable() []key {
	p, o := newProfile()
	return profileKeys(p, o)
}

// reference returns a table for each mapping, the outermost first.
func reference(keys []key) string {
	var b strings.Builder
	type section struct {
		title string
		keys  []key
	}
	queue, seen := []section{{"", keys}}, map[string]bool{}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.title != "" {
			fmt.Fprintf(&b, "\n**%s**\n", strings.ToUpper(s.title[:1])+s.title[1:])
		}
		b.WriteString("\n| key | value | meaning |\n|---|---|---|\n")
		for _, k := range s.keys {
			name := "`" + k.name + "`"
			if k.needed {
				name += " (needed)"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, k.value.words, k.about)
			if k.value.inner != nil && !seen[k.value.of] {
				seen[k.value.of] = true
				queue = append(queue, section{k.value.of, k.value.inner()})
			}
		}
	}
	return b.String() + "\n"
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestExamplesPassReaderAndSchema checks every file that the documentation shows with the reader and the schema.
func TestExamplesPassReaderAndSchema(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllSubmatch(text, -1)
	if len(blocks) < 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	source := Source{
		Getenv:   func(string) string { return "set" },
		ReadFile: func(string) ([]byte, error) { return []byte("version: 1\n"), nil },
	}
	for _, block := range blocks {
		example, against := block[1], Schema()
		_, err := Parse("candor.yaml", example, source)
		if !strings.Contains(string(example), "\nupstreams:") {
			_, err = ParseProfile("profile.yaml", example)
			against = ProfileSchema()
		}
		if err != nil {
			t.Errorf("%s\n%v", example, err)
		}
		accepts(t, against, example, true)
	}
	accepts(t, Schema(), []byte("version: 1\nupstreams: {a: {url: http://h/, tiemout: 3s}}\n"), false)
	accepts(t, Schema(), []byte("version: 1\nmode: loud\nupstreams: {a: {url: http://h/}}\n"), false)
	accepts(t, Schema(), []byte("upstreams: {a: {url: http://h/}}\n"), false)
}

func accepts(t *testing.T, against, example []byte, want bool) {
	t.Helper()
	s, err := schema.Compile(against)
	if err != nil {
		t.Fatal(err)
	}
	value, err := yaml.YAMLToJSON(example)
	if err != nil {
		t.Fatal(err)
	}
	if report := s.Explain(value); report.OK() != want {
		t.Errorf("the schema says %v of\n%s", report.Issues, example)
	}
}
