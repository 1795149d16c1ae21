package servername_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/gateway/servername"
)

func TestFromCommandNamesThePackage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything":         "@modelcontextprotocol/server-everything",
		"npx --yes @scope/server-x@1.2.3 --flag value":           "@scope/server-x",
		"npx some-mcp-server@latest /data":                       "some-mcp-server",
		`C:\nodejs\npx.cmd -y server-x`:                          "server-x",
		"cmd /c npx -y @scope/server-x":                          "@scope/server-x",
		"npm exec -y -- @scope/server-x":                         "@scope/server-x",
		"bun run shop/dist/index.js":                             "shop",
		"deno run -A npm:@scope/server-x@1":                      "@scope/server-x",
		"uvx mcp-server-git==1.0 --repository .":                 "mcp-server-git",
		"uvx --python 3.12 mcp-server-git@latest":                "mcp-server-git",
		"uvx --from mcp-server[all]>=1 run-it":                   "mcp-server",
		"uv tool run mcp-server-time":                            "mcp-server-time",
		"node --enable-source-maps shop/dist/index.js -p 3":      "shop",
		"node /opt/x/node_modules/@scope/server-x/dist/index.js": "@scope/server-x",
		"node -e 1":                   servername.Unknown,
		"python3.12 -u -m foo.server": "foo",
		"python3 files.py":            "files",
		"python -c 1":                 servername.Unknown,
		"docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:v1 stdio": "ghcr.io/github/github-mcp-server",
		"docker run --rm --env=TOKEN=x host:5000/img@sha256:abc":                "host:5000/img",
		"java -jar /opt/lib/weather-1.0.jar":                                    "weather-1.0",
		"dotnet run --project src/Shop.csproj":                                  "Shop",
		"env A=b npx -y server-x":                                               "server-x",
		"timeout 60 uvx server-x":                                               "server-x",
		"candor wrap --mode strict -- uvx s-x":                                  "s-x",
		"./badserver --flag":                                                    "badserver",
		`C:\tools\files-mcp.exe`:                                                "files-mcp",
		"/opt/weather/bin/server":                                               "weather",
		"npx":                                                                   servername.Unknown,
	} {
		if got := servername.FromCommand(strings.Fields(line)); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{`cd /srv && exec npx -y "server-x"`, "TOKEN=a uvx 'server-x'"} {
		if got := servername.FromCommand([]string{"bash", "-lc", line}); got != "server-x" {
			t.Errorf("%s: got %q", line, got)
		}
	}
	if got := servername.FromCommand([]string{"uvx", "sk-ant-REDACTED"}); strings.Contains(got, "ABCDEF") {
		t.Errorf("the name %q has the secret", got)
	}
}

func TestCleanIsOneBoundedLineAndNoLauncher(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"weather": "weather", "  two\nlines\t\x1b[31m ": "two lines [31m", "\n": "", "NPX": "", "python3.12": "", "a\xffb": "ab", "Wetter ☀": "Wetter ☀",
	} {
		if got := servername.Clean(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := servername.Clean(strings.Repeat("é", 1<<20)); len(got) > servername.MaxBytes || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzFromCommand(f *testing.F) {
	for _, line := range []string{"npx -y x", "uv run -m", "docker run -e", "sh -c -c", "cargo run --bin"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got := servername.FromCommand(strings.Fields(line))
		if got == "" || len(got) > servername.MaxBytes || strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("%q: %q", line, got)
		}
	})
}
