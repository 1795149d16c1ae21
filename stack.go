package candor

import (
	"fmt"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// StackPolicy selects the dialects that write a stack. With the zero policy no dialect does. [ParseStackPolicy] makes one from the
// two environment variables of the contract; this package does not read the environment.
type StackPolicy struct {
	// Debug is DEBUG_STACK=true: the system-error dialect writes stack_trace.
	Debug bool
	// Verbose is MCP_ERRORS_VERBOSE: the number of frames that the rpc dialect writes as data.stack. 0 means no stack, and a negative
	// number means all frames.
	Verbose int
}

// ParseStackPolicy reads DEBUG_STACK, which only the exact word "true" enables, and MCP_ERRORS_VERBOSE, a whole number of frames
// or "full". Any other value of MCP_ERRORS_VERBOSE is an error.
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
		return StackPolicy{}, fmt.Errorf(`MCP_ERRORS_VERBOSE %q: want a number of frames or "full"`, verbose)
	}
	p.Verbose = n
	return p, nil
}

// Wanted reports whether any dialect writes a stack. If not, callers need not capture one.
func (p StackPolicy) Wanted() bool { return p.Debug || p.Verbose != 0 }

// Frames formats program counters from [runtime.Callers] with one frame per line, "package.Func (file.go:12)". Frames of the
// framework (the runtime, Candor, the MCP SDK, the HTTP server) are omitted, and files have no directories. It returns "" if no
// stack is [StackPolicy.Wanted].
func (p StackPolicy) Frames(pcs []uintptr) string {
	if !p.Wanted() || len(pcs) == 0 {
		return ""
	}
	var lines []string
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" && !isFramework(f.Function) {
			lines = append(lines, fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line))
		}
		if !more {
			break
		}
	}
	return strings.Join(lines, "\n")
}

// FirstFrames returns the first Verbose frames of a stack, the innermost first, or the whole stack if Verbose is negative. It
// reads stacks as Go, JavaScript, Python, Java and .NET print them and omits the frames of the framework. If it recognises no frame,
// it returns that many lines.
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

// frameworkPackages lists the packages whose frames do not help to find the failure: "x." is one package, "x/" all packages below it. The
// systems of the workbench and the examples are tools and not part of the framework.
var frameworkPackages = []string{
	"runtime.", "runtime/", "testing.", "testing/", "net/http.", "net/http/", "reflect.", "internal/",
	"github.com/candor-mcp/candor.", "github.com/candor-mcp/candor/internal/", "github.com/candor-mcp/candor/wire.",
	"github.com/candor-mcp/candor/dialect.", "github.com/candor-mcp/candor/contract.",
	"github.com/candor-mcp/candor/boundary.", "github.com/candor-mcp/candor/boundary/", "github.com/candor-mcp/candor/cmd/internal/gateway.", "github.com/candor-mcp/candor/cmd/internal/gateway/",
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness.", "github.com/candor-mcp/candor/cmd/internal/workbench/harness/line.",
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain.",
	"github.com/modelcontextprotocol/go-sdk/", "github.com/mark3labs/mcp-go/",
}

func isFramework(function string) bool {
	for _, p := range frameworkPackages {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}

// The functions below read a stack text in any of the languages and write one frame per line: "function (file:12)" or "function
// (file:12:5)", the innermost first, without directories, headers, messages and frames of the framework. They read their own output
// back unchanged.

// The locations of frames that have no file.
const (
	locationNative    = "native"
	locationAnonymous = "<anonymous>"
	locationUnknown   = "unknown"
)

// cleanFrames returns the frames of a stack text. known is false if the text has no frame at all, not even one of the framework.
func cleanFrames(stack string) (frames []string, known bool) {
	lines := strings.Split(strings.ReplaceAll(stack, "\r\n", "\n"), "\n")
	python := 0 // index of the first frame in the last run of Python frames; Python writes the innermost last
	for i := 0; i < len(lines); i++ {
		frame, found, lang := "", false, langOther
		if i+1 < len(lines) {
			frame, found = goFrame(lines[i], lines[i+1])
		}
		if found {
			i++
		} else {
			frame, lang, found = lineFrame(lines[i], i+1 == len(lines))
		}
		known = known || found
		if frame == "" {
			continue
		}
		if lang == langPython {
			frames = append(frames[:python], append([]string{frame}, frames[python:]...)...)
			continue
		}
		frames = append(frames, frame)
		python = len(frames)
	}
	return frames, known
}

type language uint8

const (
	langOther language = iota
	langPython
)

// lineFrame reads a frame of one line. For a frame of the framework, found is true and frame is "".
func lineFrame(line string, last bool) (frame string, lang language, found bool) {
	text := strings.Trim(line, " \t")
	if frame, found = ownFrame(text); found {
		return frame, langOther, true
	}
	if rest, ok := strings.CutPrefix(text, `File "`); ok {
		frame, found = pythonFrame(rest)
		return frame, langPython, found
	}
	if rest, ok := strings.CutPrefix(text, "at "); ok {
		frame, found = atFrame(rest)
		return frame, langOther, found
	}
	if last && text == line && strings.HasSuffix(text, cutMark) && strings.Contains(text, " (") {
		return text, langOther, true
	}
	return "", langOther, false
}

// ownFrame reads a frame as this package writes it, even if parts of it were redacted or the file has directories.
func ownFrame(text string) (frame string, found bool) {
	name, location, ok := strings.Cut(text, " (")
	location, closed := strings.CutSuffix(location, ")")
	if !ok || !closed || name == "" || strings.ContainsAny(name, " \t") || strings.HasSuffix(name, ":") || strings.ContainsAny(location, " \t") {
		return "", false
	}
	location = location[strings.LastIndexAny(location, `/\`)+1:]
	if location != locationNative && location != locationAnonymous && location != locationUnknown && !hasLine(location) && !strings.Contains(location, "[redacted:") {
		return "", false
	}
	return name + " (" + location + ")", true
}

// goFrame reads the two lines of a frame as runtime/debug prints it.
func goFrame(first, second string) (frame string, found bool) {
	at, ok := strings.CutPrefix(second, "\t")
	at, _, _ = strings.Cut(at, " ") // +0x1d
	open := strings.LastIndexByte(first, '(')
	if !ok || !hasLine(at) || first == "" || first[0] == ' ' || first[0] == '\t' {
		return "", false
	}
	if strings.HasPrefix(first, "created by ") { // not a frame of this goroutine
		return "", true
	}
	if open < 1 || !strings.HasSuffix(first, ")") || strings.ContainsAny(first[:open], " \t") {
		return "", false
	}
	function := first[:open]
	if isFramework(function) || function == "panic" {
		return "", true
	}
	return written(path.Base(function), at), true
}

// atFrame reads the text after "at" in a frame of JavaScript, Java or .NET.
func atFrame(text string) (frame string, found bool) {
	name, location := "", text
	if head, file, ok := strings.Cut(text, " in "); ok && strings.Contains(file, ":line ") { // .NET
		name, _, _ = strings.Cut(head, "(")
		location = strings.Replace(file, ":line ", ":", 1)
	} else if inner, ok := strings.CutSuffix(text, ")"); ok {
		if name, location, ok = strings.Cut(inner, "("); !ok {
			return "", false
		}
	} else if strings.ContainsAny(text, " \t") && !strings.HasPrefix(text, "async ") && !strings.HasPrefix(text, "file:") || !hasLine(text) && text != locationAnonymous {
		return "", false
	}
	if _, last, ok := strings.Cut(location, "), "); ok { // eval at f (a.js:1:2), <anonymous>:1:1
		location = last
	}
	name = strings.Trim(name, " \t")
	if isForeignFramework(name, location) {
		return "", true
	}
	for _, word := range [...]string{"async ", "new ", "get ", "set "} {
		name = strings.TrimPrefix(name, word)
		location = strings.TrimPrefix(location, word)
	}
	name, _, _ = strings.Cut(name, " [as ")
	if name == "" {
		name = locationAnonymous
	}
	return written(name[strings.LastIndexByte(name, '/')+1:], location), true // Java writes the module and a slash before the name
}

// pythonFrame reads the text after the quote in: File "x.py", line 3, in f.
func pythonFrame(text string) (frame string, found bool) {
	file, rest, ok := strings.Cut(text, `", line `)
	if !ok {
		return "", false
	}
	line, name, ok := strings.Cut(rest, ", in ")
	if !ok {
		name = "<module>"
	}
	if isForeignFramework("", file) {
		return "", true
	}
	return written(name, file+":"+line), true
}

// written formats a frame. It replaces spaces and removes directories.
func written(name, location string) string {
	switch location = location[strings.LastIndexAny(location, `/\`)+1:]; {
	case strings.HasPrefix(location, "Native Method"):
		location = locationNative
	case !hasLine(location) && location != locationNative && location != locationAnonymous:
		location = locationUnknown
	}
	if name = strings.TrimRight(blanks.Replace(name), ":"); name == "" {
		name = locationAnonymous
	}
	return name + " (" + blanks.Replace(location) + ")"
}

var blanks = strings.NewReplacer(" ", "_", "\t", "_")

// hasLine reports whether a location ends in a line number, as in ":12".
func hasLine(location string) bool {
	digits := strings.TrimRight(location, "0123456789")
	return len(digits) > 1 && len(digits) < len(location) && digits[len(digits)-1] == ':'
}

// isForeignFramework is like isFramework, for the other languages.
func isForeignFramework(name, location string) bool {
	location = strings.ReplaceAll(location, `\`, "/")
	for _, part := range [...]string{
		"node:internal/", "node_modules/@modelcontextprotocol/", "/asyncio/", "site-packages/mcp/", "site-packages/anyio/", "<frozen ",
	} {
		if strings.Contains(location, part) {
			return true
		}
	}
	for _, part := range [...]string{"java.lang.reflect.", "jdk.internal.", "sun.reflect.", "io.modelcontextprotocol."} {
		if strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], part) {
			return true
		}
	}
	return strings.HasPrefix(location, "internal/")
}
