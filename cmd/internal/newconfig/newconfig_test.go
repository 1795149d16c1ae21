package newconfig_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/newconfig"
)

func none([]*url.URL) map[string]bool { return nil }

func pair(name, value string) clientconfig.Pair { return clientconfig.Pair{Name: name, Value: value} }

// parsed reads the text; the value of each variable is its name.
func parsed(t *testing.T, text string) *config.File {
	t.Helper()
	f, err := config.Parse("candor.yaml", []byte(text), config.Source{Getenv: func(name string) string { return "<" + name + ">" }})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

func TestNewKeepsEveryWordOfACommand(t *testing.T) {
	words := []string{"npx", "-y", "@scope/server@1.2.3", "--flag", "", "true", "null", "~", "1e3", "a: b", "# no", "'", "\"", "[x", "{y", "*z", "&z", "!t", "%d", "x\ny", "tab\t", "ünïcode", "C:\\dir\\x", "-", "--", "- a", "<b>&", "| x", "a,b"}
	c, err := newconfig.New([]newconfig.Source{{Title: "file\nversion: 2", Servers: []clientconfig.Server{{Name: "a b/ü", Command: words[0], Args: words[1:], Dir: "/srv\nx: y"}}}}, none)
	if err != nil {
		t.Fatal(err)
	}
	f := parsed(t, c.Text)
	if diff := cmp.Diff(words, f.Upstreams[0].Command); diff != "" || f.Upstreams[0].Name != "a-b" || f.Upstreams[0].Dir != "/srv\nx: y" {
		t.Errorf("%s %s\n%s", f.Upstreams[0].Name, diff, c.Text)
	}
}

func TestNewCopiesNoSecret(t *testing.T) {
	const secret = "hunter2-Zx81kq"
	c, err := newconfig.New([]newconfig.Source{
		{Title: "one", Servers: []clientconfig.Server{
			{Name: "a", Command: "candor", Args: []string{"wrap", "--", "x"}, Env: []clientconfig.Pair{pair("API_KEY", secret), pair("PLAIN", secret+"2"), pair("REF", "${env:OTHER}")}},
			{Name: "b", Command: "y", Env: []clientconfig.Pair{pair("API_KEY", secret+"3"), pair("PLAIN", secret+"2")}},
			{Name: "web", URL: "https://h.example/mcp", Headers: []clientconfig.Pair{pair("Authorization", "Bearer "+secret), pair("X-Api-Key", secret+"4")}},
			{Name: "flag", Command: "z", Args: []string{"--api-key", secret}},
			{Name: "assign", Command: "z", Args: []string{"--token=" + secret}},
			{Name: "word", Command: "z", Args: []string{"mcp", "hunter2pw99"}},
			{Name: "hunter2pw99xyz", Command: "named"},
			{Name: "url", Command: "z", Args: []string{"postgres://u:" + secret + "@db/x"}},
			{Name: "query", URL: "https://h.example/mcp?key=" + secret},
			{Name: "user", URL: "https://u:" + secret + "@h.example/mcp"},
			{Name: "input", Command: "z", Args: []string{"${input:token}"}},
			{Name: "variable", Command: "z", Env: []clientconfig.Pair{pair("a-b", secret)}},
			{Name: "header", URL: "http://h.example/", Headers: []clientconfig.Pair{pair("Host", secret)}},
			{Name: "off", Command: "z", Disabled: true},
		}},
		{Title: "two", Servers: []clientconfig.Server{
			{Name: "b", Command: "y", Env: []clientconfig.Pair{pair("PLAIN", secret+"2"), pair("API_KEY", secret+"3")}},
			{Name: "a", Command: "other"},
			{Name: "linear", URL: "https://login.example/"},
		}},
	}, func(addresses []*url.URL) map[string]bool {
		if len(addresses) != 1 {
			t.Errorf("asked for %v", addresses)
		}
		return map[string]bool{"https://login.example/": true}
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := c.Text + fmt.Sprintf("%+v %+v", c.Left, c.Variables); strings.Contains(all, "hunter2") {
		t.Errorf("a secret was copied:\n%s", all)
	}
	want := []string{"API_KEY", "PLAIN", "OTHER", "B_API_KEY", "WEB_AUTHORIZATION", "WEB_X_API_KEY"}
	if diff := cmp.Diff(want, c.Variables); diff != "" {
		t.Error(diff)
	}
	f := parsed(t, c.Text)
	got := map[string]string{}
	for _, u := range f.Upstreams {
		got[u.Name] = fmt.Sprint(u.Command, u.Env, u.HTTP.Header)
	}
	if diff := cmp.Diff(map[string]string{
		"a": "[x] [API_KEY=<API_KEY> PLAIN=<PLAIN> REF=<OTHER>] map[]", "b": "[y] [API_KEY=<B_API_KEY> PLAIN=<PLAIN>] map[]",
		"web": "[] [] map[Authorization:[Bearer <WEB_AUTHORIZATION>] X-Api-Key:[<WEB_X_API_KEY>]]", "a-2": "[other] [] map[]", "server": "[named] [] map[]",
	}, got); diff != "" {
		t.Errorf("%s\n%s", diff, c.Text)
	}
	if len(c.Left) != 11 {
		t.Errorf("left out: %+v", c.Left)
	}
}
