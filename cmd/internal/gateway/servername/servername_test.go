package servername_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/gateway/servername"
)

// TestFromCommandNamesThePackage is one table of command lines, because they share the files of one folder.
func TestFromCommandNamesThePackage(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for file, text := range map[string]string{
		"shop/package.json": `{"name":"@acme/shop-mcp","version":"1.0.0"}`, "shop/dist/index.js": "", "weather/build/index.js": "", "files.py": "", "notes/src/server.py": "",
		"nameless/package.json": `{"type":"module"}`, "nameless/dist/index.js": "", "broken/package.json": `{"name":`, "broken/index.js": "",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything":              "@modelcontextprotocol/server-everything",
		"npx --yes @scope/server-x@1.2.3 --flag value":                "@scope/server-x",
		"npx some-mcp-server@latest /data":                            "some-mcp-server",
		"npx -p @scope/tools run-it":                                  "@scope/tools",
		"npx --package=@scope/tools run-it":                           "@scope/tools",
		"npx -y github:owner/repo":                                    "repo",
		"npx -y --registry https://example.test x-server":             "x-server",
		"/usr/local/bin/npx -y server-x":                              "server-x",
		`C:\nodejs\npx.cmd -y server-x`:                               "server-x",
		"cmd /c npx -y @scope/server-x":                               "@scope/server-x",
		"npm exec -y -- @scope/server-x":                              "@scope/server-x",
		"npm --prefix shop start":                                     "@acme/shop-mcp",
		"npm run --prefix shop start":                                 "@acme/shop-mcp",
		"pnpm dlx server-x":                                           "server-x",
		"yarn dlx server-x":                                           "server-x",
		"bunx server-x":                                               "server-x",
		"bun x server-x":                                              "server-x",
		"bun run shop/dist/index.js":                                  "@acme/shop-mcp",
		"deno run -A npm:@scope/server-x@1":                           "@scope/server-x",
		"uvx mcp-server-git --repository .":                           "mcp-server-git",
		"uvx mcp-server-git==1.0":                                     "mcp-server-git",
		"uvx --python 3.12 mcp-server-git@latest":                     "mcp-server-git",
		"uvx --from mcp-server[all]>=1 run-it":                        "mcp-server",
		"uvx --from git+https://tok@example.test/owner/thing serve-x": "serve-x",
		"uv tool run mcp-server-time":                                 "mcp-server-time",
		"uv --directory notes run src/server.py":                      "notes",
		"uv run --directory notes mcp-notes":                          "mcp-notes",
		"uv run --with fastmcp -m notes.server":                       "notes",
		"pipx run mcp-server-x":                                       "mcp-server-x",
		"node shop/dist/index.js":                                     "@acme/shop-mcp",
		"node --enable-source-maps -r x shop/dist/index.js --port 3":  "@acme/shop-mcp",
		"node weather/build/index.js":                                 "weather",
		"node nameless/dist/index.js":                                 "nameless",
		"node broken/index.js":                                        "broken",
		"node /opt/x/node_modules/@scope/server-x/dist/index.js":      "@scope/server-x",
		"node /opt/x/node_modules/server-x/dist/index.js":             "server-x",
		"node -e 1":                            servername.Unknown,
		"python -m foo":                        "foo",
		"python3.12 -u -m foo.server":          "foo",
		"python3 files.py":                     "files",
		"python notes/src/server.py":           "notes",
		"python -c 1":                          servername.Unknown,
		"/venv/bin/python -m mcp_server_fetch": "mcp_server_fetch",
		"docker run -i --rm mcp/github":        "mcp/github",
		"docker run -i --rm -e TOKEN --name x --mount type=bind,src=/a,dst=/b ghcr.io/github/github-mcp-server:v1 stdio": "ghcr.io/github/github-mcp-server",
		"docker run --rm --env=TOKEN=x host:5000/img@sha256:abc":                                                         "host:5000/img",
		"podman run img:1":                     "img",
		"docker exec -i box server":            "box",
		"docker compose run --rm files":        "files",
		"docker mcp gateway run":               "docker-mcp",
		"docker ps":                            servername.Unknown,
		"java -jar /opt/lib/weather-1.0.jar":   "weather-1.0",
		"dotnet run --project src/Shop.csproj": "Shop",
		"go run ./cmd/server":                  "",
		"go run example.test/x/weather@latest": "weather",
		"env A=b npx -y server-x":              "server-x",
		"nice -n 5 uvx server-x":               "server-x",
		"timeout 60 uvx server-x":              "server-x",
		"candor wrap --mode strict -- uvx s-x": "s-x",
		"candor zoo --defect masked-flag":      "candor zoo",
		"./badserver --flag":                   "badserver",
		`C:\tools\files-mcp.exe`:               "files-mcp",
		"/opt/weather/bin/server":              "weather",
		"npx":                                  servername.Unknown,
		"node":                                 servername.Unknown,
		"sh -c":                                servername.Unknown,
		"npx npx npx npx npx npx npx npx npx":  servername.Unknown,
		"uvx sk-ant-REDACTED":                  "",
		"npx -y \x1b[31mred\x1b[0m":            "[31mred [0m",
	} {
		got := servername.FromCommand(strings.Fields(line))
		switch {
		case line == "go run ./cmd/server":
			want = filepath.Base(dir)
		case strings.Contains(line, "sk-ant"):
			if strings.Contains(got, "ABCDEF") {
				t.Errorf("%s: the name %q has the secret", line, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"cd /srv && exec npx -y @scope/server-x": "@scope/server-x", "TOKEN=a uvx 'server-x'": "server-x", "": servername.Unknown,
	} {
		if got := servername.FromCommand([]string{"bash", "-lc", line}); got != want {
			t.Errorf("bash -lc %q: got %q, want %q", line, got, want)
		}
	}
}

func TestCleanIsOneBoundedLineAndNoLauncher(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"weather": "weather", "  two\nlines\t\x1b[31m ": "two lines [31m", "": "", "\n": "", "node": "", "NPX": "", "python3.12": "", "example-servers/everything": "example-servers/everything", "a\xffb": "ab",
		"@scope/server-x": "@scope/server-x", "Wetter ☀": "Wetter ☀",
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
	f.Add("npx -y x")
	f.Add("uv run -m")
	f.Add("docker run -e")
	f.Add("sh -c -c")
	f.Add("cargo run --bin")
	f.Fuzz(func(t *testing.T, line string) {
		got := servername.FromCommand(strings.Fields(line))
		if got == "" || len(got) > servername.MaxBytes || strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("%q: %q", line, got)
		}
	})
}
