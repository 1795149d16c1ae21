package vet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/candorvet"
	"github.com/candor-mcp/candor/cmd/internal/vet"
)

// The scripts of the command test findings and fixes; these tests cover cases that a script cannot.

// analyser is the folder of the analyser.
var analyser = filepath.Join("..", "..", "..", "candorvet")

const server = `package server

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func tool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("no")
}
`

// module writes a server of two files and its stubs, and returns its folder.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	stubs := filepath.Join(analyser, "testdata", "src", "github.com")
	for _, name := range []string{"candor-mcp/candor", "modelcontextprotocol/go-sdk"} {
		target := filepath.Join(dir, "stub", filepath.FromSlash(name))
		if err := os.CopyFS(target, os.DirFS(filepath.Join(stubs, filepath.FromSlash(name)))); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(target, "go.mod"), "module github.com/"+name+"\n\ngo 1.26\n")
	}
	write(t, filepath.Join(dir, "go.mod"), `module example.test/server

go 1.26

require (
	github.com/candor-mcp/candor v0.0.0
	github.com/modelcontextprotocol/go-sdk v0.0.0
)

replace (
	github.com/candor-mcp/candor => ./stub/candor-mcp/candor
	github.com/modelcontextprotocol/go-sdk => ./stub/modelcontextprotocol/go-sdk
)
`)
	write(t, filepath.Join(dir, "server.go"), server)
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func analysed(t *testing.T, dir string) *vet.Report {
	t.Helper()
	report, err := vet.Packages(t.Context(), vet.Config{Dir: dir, Patterns: []string{"."}})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Findings) != 1 || report.Findings[0].Rule != candorvet.RawError || report.Findings[0].File != "server.go" {
		t.Fatalf("%+v", report)
	}
	return report
}

func content(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestInterruptedFixWritesNothing(t *testing.T) {
	dir := module(t)
	report := analysed(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := report.Fix(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if content(t, filepath.Join(dir, "server.go")) != server {
		t.Error("the file was written")
	}
}

// TestFixKeepsLinkAndPermissions checks that a fix keeps a symbolic link and replaces its target.
func TestFixKeepsLinkAndPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links or permissions as on Unix")
	}
	dir := module(t)
	name, target := filepath.Join(dir, "server.go"), filepath.Join(dir, "stub", "kept.txt")
	if err := errors.Join(os.Rename(name, target), os.Chmod(target, 0o640), os.Symlink(target, name)); err != nil {
		t.Fatal(err)
	}
	done, err := analysed(t, dir).Fix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Files) != 1 || len(done.After.Findings) != 0 {
		t.Errorf("%+v", done)
	}
	link, err := os.Lstat(name)
	if err != nil || link.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", link, err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("permissions: %v, %v", info, err)
	}
	if content(t, target) == server {
		t.Error("nothing was fixed")
	}
}

// TestFixThatWouldNotCompileIsNotWritten uses a stub of candor that lacks the functions of the fix.
func TestFixThatWouldNotCompileIsNotWritten(t *testing.T) {
	dir := module(t)
	report := analysed(t, dir)
	write(t, filepath.Join(dir, "stub", "candor-mcp", "candor", "candor.go"), "package candor\n")
	var broken *vet.BrokenError
	if _, err := report.Fix(t.Context()); !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
	if content(t, filepath.Join(dir, "server.go")) != server {
		t.Error("the file was written")
	}
}

func TestFileThatChangedMeanwhileIsNotFixed(t *testing.T) {
	dir := module(t)
	report := analysed(t, dir)
	name := filepath.Join(dir, "server.go")
	write(t, name, "package server\n")
	if _, err := report.Fix(t.Context()); err == nil {
		t.Error("no error")
	}
	if content(t, name) != "package server\n" {
		t.Error("the file was written")
	}
}

// TestRealSDKsHaveTheShapesOfTheStubs runs over servers that compile against the SDKs of the workspace, so that the stubs cannot drift from
// the SDKs. It reads the compiler's export data of the SDKs; analysistest would compile them again.
func TestRealSDKsHaveTheShapesOfTheStubs(t *testing.T) {
	for _, dir := range []string{"testdata/real/gosdk", "testdata/real/mcpgo"} {
		report, err := vet.Packages(t.Context(), vet.Config{Dir: analyser, Patterns: []string{"./" + dir}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range report.Findings {
			got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Rule))
		}
		if diff := cmp.Diff(wanted(t, dir+"/server.go"), got); diff != "" {
			t.Errorf("(- wanted, + found)\n%s", diff)
		}
	}
}

var wantComment = regexp.MustCompile("// want `\\^(\\w+):`")

// wanted reads the comments with the expected rule of each line.
func wanted(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(analyser, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, line := range strings.Split(string(data), "\n") {
		if m := wantComment.FindStringSubmatch(line); m != nil {
			out = append(out, fmt.Sprintf("%s:%d %s", name, i+1, m[1]))
		}
	}
	return out
}
