package candor_test

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
)

// TestK2StacksAreShownOnlyWhenAskedFor checks that only the exact word "true" enables DEBUG_STACK, and that a stack is written
// only if the options ask for it.
func TestK2StacksAreShownOnlyWhenAskedFor(t *testing.T) {
	for debug, want := range map[string]bool{"true": true, "": false, "TRUE": false, "True": false, "1": false, "yes": false, " true": false, "true ": false, "false": false} {
		if p, err := candor.ParseStackPolicy(debug, ""); err != nil || p.Debug != want || p.Wanted() != want {
			t.Errorf("DEBUG_STACK=%q: %+v, %v", debug, p, err)
		}
	}
	for verbose, want := range map[string]int{"": 0, "0": 0, "1": 1, "5": 5, "full": -1} {
		if p, err := candor.ParseStackPolicy("", verbose); err != nil || p.Verbose != want || p.Wanted() != (want != 0) {
			t.Errorf("MCP_ERRORS_VERBOSE=%q: %+v, %v", verbose, p, err)
		}
	}
	for _, verbose := range []string{"-1", "many", "1.5", "FULL", "true", " 1", "1e3", "99999999999999999999"} {
		if p, err := candor.ParseStackPolicy("true", verbose); err == nil || p != (candor.StackPolicy{}) || !strings.Contains(err.Error(), `"full"`) {
			t.Errorf("MCP_ERRORS_VERBOSE=%q: %+v, %v", verbose, p, err)
		}
	}
	e := candor.New(candor.CodeTimeout, "", candor.WithStack("main.f (main.go:1)"))
	if strings.Contains(marshal(t, e), "main.go") {
		t.Error("a stack is shown to whoever asks for JSON")
	}
	if raw := string(e.AppendJSON(nil, candor.JSONOptions{Stack: true})); !strings.Contains(raw, `"stack":"main.f (main.go:1)"`) {
		t.Error(raw)
	}
	if strings.Contains(string(candor.New(candor.CodeTimeout, "").AppendJSON(nil, candor.JSONOptions{Stack: true})), "stack") {
		t.Error("an error without a stack shows one")
	}
}

type worker[T any] struct{}

func (w *worker[T]) run(pcs []uintptr) int {
	return func() int { return runtime.Callers(1, pcs) }()
}

// TestH12FramesHaveNoHarnessAndNoDirectories checks that a stack names the functions of the tool and nothing about the machine.
func TestH12FramesHaveNoHarnessAndNoDirectories(t *testing.T) {
	pcs := make([]uintptr, 64)
	var n int
	func() {
		defer func() {
			_ = recover()
			n = (&worker[int]{}).run(pcs)
		}()
		list := make([]int, len(pcs)-64)
		list[n]++ // adds frames of the runtime
	}()
	for _, p := range []candor.StackPolicy{{Debug: true}, {Verbose: 2}, {Verbose: -1}, {Debug: true, Verbose: 1}} {
		stack := p.Frames(pcs[:n])
		lines := strings.Split(stack, "\n")
		if len(lines) < 3 || !strings.Contains(lines[0], "worker") || !strings.Contains(stack, "candor_test.TestH12") {
			t.Fatalf("the frames of the test are missing:\n%s", stack)
		}
		form := regexp.MustCompile(`^[^/\s]+ \([^/\s]+\.go:\d+\)$`)
		for _, line := range lines {
			if !form.MatchString(line) {
				t.Errorf("frame %q", line)
			}
			for _, harness := range []string{"runtime.", "testing.", "candor.New"} {
				if strings.HasPrefix(line, harness) {
					t.Errorf("a frame of the harness: %q", line)
				}
			}
		}
		first := p.FirstFrames(stack)
		switch {
		case p.Verbose == 0 && first != "":
			t.Errorf("nobody asked for frames in rpc: %q", first)
		case p.Verbose > 0 && (strings.Count(first, "\n")+1 != p.Verbose || !strings.HasPrefix(stack, first)):
			t.Errorf("%d frames wanted: %q", p.Verbose, first)
		case p.Verbose < 0 && first != stack:
			t.Errorf("all frames wanted: %q", first)
		}
		if e := candor.New(candor.CodeTimeout, "", candor.WithStack(stack)); e.Stack() != stack {
			t.Errorf("redaction damages a stack:\n%s\n%s", stack, e.Stack())
		}
	}
	if got := (candor.StackPolicy{}).Frames(pcs[:n]); got != "" {
		t.Errorf("nobody asked: %q", got)
	}
	if got := (candor.StackPolicy{Debug: true}).Frames(nil); got != "" {
		t.Errorf("no frames: %q", got)
	}
	if got := (candor.StackPolicy{Verbose: 3}).FirstFrames(""); got != "" {
		t.Errorf("no stack: %q", got)
	}
}

// TestHarnessIsToldByPackage checks that functions of the harness are recognised by their exact package.
func TestHarnessIsToldByPackage(t *testing.T) {
	for function, want := range map[string]bool{
		"runtime.gopanic": true, "runtime/debug.Stack": true, "testing.tRunner": true, "net/http.HandlerFunc.ServeHTTP": true, "reflect.Value.call": true,
		"github.com/candor-mcp/candor.New": true, "github.com/candor-mcp/candor.(*Error).With": true, "github.com/candor-mcp/candor/boundary.wrap.func1": true,
		"github.com/candor-mcp/candor/boundary/mcpgo.wrap": true, "github.com/candor-mcp/candor/contract.Classify": true, "github.com/candor-mcp/candor/cmd/internal/gateway.run": true,
		"github.com/candor-mcp/candor/internal/redact.Text": true, "github.com/modelcontextprotocol/go-sdk/mcp.(*Server).callTool": true, "github.com/mark3labs/mcp-go/server.x": true,
		"main.main": false, "runtimes.f": false, "example.com/runtime.f": false, "github.com/candor-mcp/candor_test.F": false, "github.com/candor-mcp/candor/cmd/internal/workbench.tool": false,
		"net/httpx.f": false, "github.com/candor-mcp/candor/cmd/internal/workbench/kaiza.readFile": false,
	} {
		if got := candor.IsFramework(function); got != want {
			t.Errorf("%s: harness %v, want %v", function, got, want)
		}
	}
}
