package mcpfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/cmd/internal/mcpfile"
)

func TestParseReadsTheShapesOfClients(t *testing.T) {
	github := mcpfile.Server{Name: "github", Command: []string{"npx", "-y", "x"}, Env: []mcpfile.Pair{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}}
	for name, c := range map[string]struct {
		text string
		want []mcpfile.Server
	}{
		"mcpServers":       {`{"mcpServers":{"github":{"command":"npx","args":["-y","x"],"env":{"A":"1","B":2}}}}`, []mcpfile.Server{github}},
		"comments":         {"\xef\xbb\xbf// a\n{ \"servers\": { /* , */ \"github\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\",], \"env\": {\"A\": \"1\", \"B\": \"2\",},},},}", []mcpfile.Server{github}},
		"nested":           {`{"mcp":{"servers":{"github":{"command":"npx","args":["-y","x"],"env":{"A":"1","B":"2"}}}}}`, []mcpfile.Server{github}},
		"command object":   {`{"context_servers":{"github":{"command":{"path":"npx","args":["-y","x"],"env":{"A":"1","B":"2"}}}}}`, []mcpfile.Server{github}},
		"url":              {`{"mcpServers":{"a":{"url":"https://h/","headers":{"X":"//y"}},"b":{"serverUrl":"http://b/"},"c":{"httpUrl":"http://c/","disabled":true}}}`, []mcpfile.Server{{Name: "a", URL: "https://h/", Headers: []mcpfile.Pair{{Name: "X", Value: "//y"}}}, {Name: "b", URL: "http://b/"}, {Name: "c", URL: "http://c/", Disabled: true}}},
		"comma in a text":  {`{"mcpServers":{"a":{"command":",}","args":["\",]"]}}}`, []mcpfile.Server{{Name: "a", Command: []string{",}", "\",]"}}}},
		"other keys first": {`{"x":[1,{"y":2}],"mcpServers":{}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := mcpfile.Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, f.Servers); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseReportsDuplicateNames(t *testing.T) {
	f, err := mcpfile.Parse([]byte(`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Servers) != 1 || f.Servers[0].Command[0] != "y" || !cmp.Equal(f.Duplicates, []string{"a"}) {
		t.Errorf("%+v", f)
	}
}

func TestParseRefusesOtherFiles(t *testing.T) {
	for text, want := range map[string]string{
		``:                                   "EOF",
		`[]`:                                 "does not begin with {",
		`{"a":1}`:                            "no key mcpServers",
		`{"mcpServers":[]}`:                  "not a JSON object",
		`{"mcpServers":{"a":{}}}`:            "needs one of command and url",
		`{"mcpServers":{"a":{"command":7}}}`: "command: not a text",
		`{"mcpServers":{"a":{"command":"x","env":{"Y":{}}}}}`: "not a text",
		`{"mcpServers":{"a":`: "EOF",
		`{ /* `:               "EOF",
	} {
		if _, err := mcpfile.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestUnwrapFindsTheServerBehindWrap(t *testing.T) {
	for line, want := range map[string]string{
		"/opt/candor wrap --name a -- npx -y x": "npx -y x|/opt/candor",
		`C:\bin\candor.exe wrap -- node s.js`:   `node s.js|C:\bin\candor.exe`,
		"npx -y candor-mcp wrap -- uvx y":       "uvx y|npx",
		"npx -y candor-mcp@1.2.3 wrap -- uvx y": "uvx y|npx",
		"npx -y other wrap -- uvx y":            "npx -y other wrap -- uvx y|",
		"candor gateway":                        "candor gateway|",
		"server -- wrap":                        "server -- wrap|",
	} {
		server, wrapper := mcpfile.Unwrap(strings.Fields(line))
		if got := strings.Join(server, " ") + "|" + wrapper; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
