package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// everything is the go-sdk's conformance server. It is built from the module cache; this repository has no copy of it.
const everything = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"

// edits add the boundary to that server, as its author would: one line after the server is created, one word where it
// is served.
var edits = []struct{ old, new string }{
	{"import (\n", "import (\n\t\"github.com/candor-mcp/candor/boundary\"\n"},
	{"\tregisterPrompts(server)\n", "\tregisterPrompts(server)\n\tguard := boundary.Install(server, boundary.Options{})\n"},
	{"http.ListenAndServe(*httpAddr, handler)", "http.ListenAndServe(*httpAddr, guard.HTTP(handler))"},
}

// withBoundary returns the server's source with the boundary added. It returns an error unless each edited text occurs
// exactly once: a server without the boundary would give the same totals and prove nothing.
func withBoundary(source []byte) ([]byte, error) {
	for _, e := range edits {
		if n := bytes.Count(source, []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("putting the boundary into the server: %q found %d times, want once; the go-sdk has changed its server, change the edits", e.old, n)
		}
		source = bytes.Replace(source, []byte(e.old), []byte(e.new), 1)
	}
	return source, nil
}

// BuildSubjects builds the servers under test into dir: the bare server first, then the servers that must be judged
// like it. The working directory must be inside this module.
func BuildSubjects(ctx context.Context, dir string) ([]Subject, error) {
	source, err := everythingSource(ctx)
	if err != nil {
		return nil, err
	}
	guarded, err := withBoundary(source)
	if err != nil {
		return nil, err
	}
	bare, bounded := filepath.Join(dir, "bare"), filepath.Join(dir, "bounded")
	if err := build(ctx, dir, bare, source); err != nil {
		return nil, err
	}
	if err := build(ctx, dir, bounded, guarded); err != nil {
		return nil, err
	}
	candor, err := BuildCandor(ctx, dir)
	if err != nil {
		return nil, err
	}
	return []Subject{
		{Name: "direct", Server: bare},
		{Name: "with the boundary", Server: bounded},
		{Name: "through the gateway", Server: bare, Gateway: candor},
	}, nil
}

// build compiles source as a package of this module that exists only for this command. The go command refuses to
// overlay files of the module cache, but accepts an overlay file of the main module that does not exist on disk.
func build(ctx context.Context, dir, program string, source []byte) error {
	root, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", "github.com/candor-mcp/candor")
	if err != nil {
		return err
	}
	file := program + ".go"
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "internal", "tools", "conformance", "everything", "main.go"): file,
	}})
	if err != nil {
		return err
	}
	plan := filepath.Join(dir, "overlay.json")
	for name, data := range map[string][]byte{file: source, plan: overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return err
		}
	}
	_, err = goCommand(ctx, "build", "-overlay", plan, "-o", program, "github.com/candor-mcp/candor/internal/tools/conformance/everything")
	return err
}

func everythingSource(ctx context.Context) ([]byte, error) {
	files, err := goCommand(ctx, "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, everything)
	if err != nil {
		return nil, err
	}
	if strings.Contains(files, "\n") {
		return nil, fmt.Errorf("reading %s: more than one file", everything)
	}
	return os.ReadFile(filepath.FromSlash(files))
}

func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(complaints.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}
