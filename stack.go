package candor

import (
	"fmt"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// StackPolicy says who may see a stack. The zero policy shows none to anybody. It is made from the two environment
// variables of the contract by [ParseStackPolicy]; this package reads no environment itself.
type StackPolicy struct {
	// Debug is DEBUG_STACK=true: the system-error dialect writes stack_trace.
	Debug bool
	// Verbose is MCP_ERRORS_VERBOSE: how many frames the rpc dialect writes as data.stack; 0 is none, a
	// negative number is all.
	Verbose int
}

// ParseStackPolicy reads DEBUG_STACK, which only the exact word "true" turns on, and MCP_ERRORS_VERBOSE, a whole number of
// frames or "full". Any other value is refused with a sentence that says what would do.
func ParseStackPolicy(debugStack, verbose string) (StackPolicy, error) {
	p := StackPolicy{Debug: debugStack == "true"}
	switch verbose {
	case "", "0":
		return p, nil
	case "full":
		p.Verbose = -1
		return p, nil
	}
	n, err := strconv.Atoi(verbose)
	if err != nil || n < 0 {
		return StackPolicy{}, fmt.Errorf(`MCP_ERRORS_VERBOSE is %q: give a number of frames or "full"`, verbose)
	}
	p.Verbose = n
	return p, nil
}

// Wanted reports whether anybody may see a stack, so that capturing one can be saved otherwise.
func (p StackPolicy) Wanted() bool { return p.Debug || p.Verbose != 0 }

// Frames formats program counters from [runtime.Callers] as one frame a line, "package.Func (file.go:12)". Frames of the
// harness (the runtime, Candor, the MCP SDK, the HTTP server) are left out and files have no directories. Without
// a wish for stacks it returns "".
func (p StackPolicy) Frames(pcs []uintptr) string {
	if !p.Wanted() || len(pcs) == 0 {
		return ""
	}
	var lines []string
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" && !isHarness(f.Function) {
			lines = append(lines, fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line))
		}
		if !more {
			break
		}
	}
	return strings.Join(lines, "\n")
}

// FirstFrames returns the frames of a stack that rpc may show, the innermost first; all of them are the stack as it is. Of a
// text as Go, JavaScript, Python, Java or .NET print it the frames are counted, and those of the harness left out; of one in
// which no frame is known that many lines are kept.
func (p StackPolicy) FirstFrames(stack string) string {
	if p.Verbose == 0 || stack == "" {
		return ""
	}
	if p.Verbose < 0 {
		return stack
	}
	lines, known := cleanFrames(cutText(stack, maxScan))
	if !known {
		lines = strings.Split(stack, "\n")
	}
	if len(lines) > p.Verbose {
		lines = lines[:p.Verbose]
	}
	return strings.Join(lines, "\n")
}

// harness lists the packages whose frames say nothing about the failure: "x." is one package, "x/" all below it. The
// systems of the workbench and the examples are tools and not harness.
var harness = []string{
	"runtime.", "runtime/", "testing.", "testing/", "net/http.", "net/http/", "reflect.", "internal/",
	"github.com/candor-mcp/candor.", "github.com/candor-mcp/candor/internal/", "github.com/candor-mcp/candor/wire.",
	"github.com/candor-mcp/candor/dialect.", "github.com/candor-mcp/candor/dialect/", "github.com/candor-mcp/candor/contract.",
	"github.com/candor-mcp/candor/boundary.", "github.com/candor-mcp/candor/boundary/", "github.com/candor-mcp/candor/cmd/internal/gateway.", "github.com/candor-mcp/candor/cmd/internal/gateway/",
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness.", "github.com/candor-mcp/candor/cmd/internal/workbench/harness/line.",
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain.",
	"github.com/modelcontextprotocol/go-sdk/", "github.com/mark3labs/mcp-go/",
}

func isHarness(function string) bool {
	for _, p := range harness {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}
