package candor

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/limits"
)

// Cause is the redacted and bounded copy of the error that led to a failure. A cause that was only a text has no Name and no Code.
type Cause struct {
	Message string
	Code    string // an errno name or a code of another system
	Name    string // the kind of the original, such as PathError
}

// IsZero reports whether c is empty.
func (c Cause) IsZero() bool { return c == Cause{} }

// newCause builds a cause from its parts, redacting and bounding each.
func newCause(message, code, name string) Cause {
	return Cause{Message: publicText(message, limits.Cause), Code: publicText(code, limits.CallInfo), Name: publicText(name, limits.CallInfo)}
}

// wrap keeps the redacted copy of err, and err itself if errors.Is can walk it.
func (e *Error) wrap(err error) {
	if isPlain(err) {
		e.err, e.cause = err, Cause{Message: e.publicCause(err.Error()), Name: plainName}
		return
	}
	e.err, e.cause = nil, causeOf(err)
	if _, sound := chainOf(err); sound {
		e.err = err
	}
}

// publicCause redacts the text of a cause, unless it equals the message, which is redacted already. Most plain errors
// have their text as the message.
func (e *Error) publicCause(text string) string {
	if text == e.message && len(text) <= limits.Cause {
		return text
	}
	return publicText(text, limits.Cause)
}

// causeOf makes a cause of any value. Errors give message, code and name; texts give a message; anything else is
// written as bounded JSON.
func causeOf(v any) Cause {
	switch v := v.(type) {
	case nil:
		return Cause{}
	case Cause:
		return newCause(v.Message, v.Code, v.Name)
	case error:
		return causeOfError(v)
	case string:
		return newCause(v, "", "")
	default:
		return causeOfValue(v, thrownBy(v))
	}
}

func causeOfError(err error) Cause {
	if isPlain(err) {
		return Cause{Message: publicText(err.Error(), limits.Cause), Name: plainName}
	}
	chain, _ := chainOf(err)
	code := ""
	guard(func() { code = firstCodeText(chain) })
	return newCause(withoutFolders(chain, textOf(err)), code, nameOf(chain, err))
}

func causeOfValue(v any, t thrown) Cause {
	if t.message != "" {
		return newCause(t.message, t.code, t.name)
	}
	return newCause(cmp.Or(DetailsOf(v).String(), "null"), "", kindName(reflect.TypeOf(v)))
}

// textOf returns err.Error(). Like fmt, it survives a nil receiver and a panicking method.
func textOf(err error) string { return fmt.Sprint(err) }

// withoutFolders shortens the absolute paths in the text of file system errors. Their fields show where a path ends;
// [redact.Text] sees only the text and stops at a space or a bracket.
func withoutFolders(chain []link, text string) string {
	for _, l := range chain {
		switch e := any(l.err).(type) {
		case *fs.PathError:
			text = withoutFolder(text, e.Path)
		case *os.LinkError:
			text = withoutFolder(withoutFolder(text, e.Old), e.New) //nolint:forbidigo // fields of an error value
		}
	}
	return text
}

// withoutFolder shortens one Unix or Windows path.
func withoutFolder(text, name string) string {
	name = strings.TrimRight(name, `/\`)
	last := strings.LastIndexAny(name, `/\`)
	if last <= 0 || name[0] != '/' && name[0] != '\\' && name[1] != ':' {
		return text
	}
	return strings.ReplaceAll(text, name, "…/"+name[last+1:])
}

// firstCodeText returns the first code that an error in the chain carries, or "".
func firstCodeText(chain []link) string {
	for _, l := range chain {
		if symbol, number := ownCode(l.err); symbol != "" {
			return symbol
		} else if number != 0 {
			return strconv.Itoa(number)
		}
	}
	return ""
}

// nameOf returns the type name of the outermost error in the chain of err that is not a wrapper of fmt or errors.
func nameOf(chain []link, err error) string {
	if len(chain) == 0 { // a nil pointer
		return kindName(reflect.TypeOf(err))
	}
	for _, l := range chain {
		switch t := reflect.TypeOf(l.err); t.String() {
		case "*errors.errorString", "*fmt.wrapError", "*fmt.wrapErrors", "*errors.joinError":
		default:
			return kindName(t)
		}
	}
	return plainName
}

// plainName is the name of an error made by errors.New or fmt.Errorf.
const plainName = "Error"

// kindName returns the name of a type, without its package and pointers.
func kindName(t reflect.Type) string {
	if t == nil {
		return ""
	}
	for t.Kind() == reflect.Pointer && t.Name() == "" { // a named pointer may point to itself
		t = t.Elem()
	}
	if t.Name() == "" {
		return t.Kind().String()
	}
	return t.Name()
}

// maxChain is the maximum number of errors of one chain that are visited, because an error may unwrap to itself.
const maxChain = 256

// link is an error of a chain and its depth.
type link struct {
	err   error
	depth int
}

// chainOf returns err and the errors that it wraps, outermost first, without nil pointers. sound is false if errors.Is
// may panic on err or not return.
func chainOf(err error) (chain []link, sound bool) {
	sound = true
	returned := guard(func() { sound = walk(&chain, link{err: err}) })
	return chain, sound && returned
}

// walk appends a link and those below it. It reports whether all were visited.
func walk(chain *[]link, l link) bool {
	switch {
	case l.err == nil:
		return true
	case isNilPointer(l.err), len(*chain) == maxChain:
		return false
	}
	*chain = append(*chain, l)
	switch v := any(l.err).(type) {
	case interface{ Unwrap() error }:
		return walk(chain, link{v.Unwrap(), l.depth + 1})
	case interface{ Unwrap() []error }:
		all := true
		for _, inner := range v.Unwrap() {
			all = walk(chain, link{inner, l.depth + 1}) && all
		}
		return all
	}
	return true
}

func isNilPointer(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// ours returns the first *Error in the chain, or nil.
func ours(err error) *Error {
	if found, ok := err.(*Error); ok { //nolint:errorlint // the quick way; the chain is walked below
		return found
	}
	if isPlain(err) {
		return nil
	}
	chain, _ := chainOf(err)
	for _, l := range chain {
		if found, ok := l.err.(*Error); ok { //nolint:errorlint // the chain is walked here
			return found
		}
	}
	return nil
}

// unencodable replaces a value that its own method could not encode.
const unencodable = "[unencodable]"

// guard calls f, which calls methods of a caller's types, and reports whether it returned. Such methods run while a
// failure is being reported: a panic in one must not end the process and lose the failure. This is the only recover of
// the package. See docs/decisions/007.
func guard(f func()) (returned bool) {
	defer func() {
		if !returned {
			_ = recover()
		}
	}()
	f()
	return true
}

// StackPolicy selects the dialects that write a stack. With the zero policy no dialect does. [ParseStackPolicy] makes
// one from the two environment variables of the contract; this package does not read the environment.
type StackPolicy struct {
	// Debug is DEBUG_STACK=true: the system-error dialect writes stack_trace.
	Debug bool
	// Verbose is MCP_ERRORS_VERBOSE: the number of frames that the rpc dialect writes as data.stack. 0 means no stack,
	// and a negative number means all frames.
	Verbose int
}

// ParseStackPolicy reads DEBUG_STACK, which only the exact word "true" enables, and MCP_ERRORS_VERBOSE, a whole number
// of frames or "full". Any other value of MCP_ERRORS_VERBOSE is an error.
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

// Frames formats program counters from [runtime.Callers] with one frame per line, "package.Func (file.go:12)". Frames
// of the framework (the runtime, Candor, the MCP SDK, the HTTP server) are omitted, and files have no directories. It
// returns "" if no stack is [StackPolicy.Wanted].
func (p StackPolicy) Frames(pcs []uintptr) string {
	if !p.Wanted() || len(pcs) == 0 {
		return ""
	}
	return strings.Join(framesOf(pcs, isFramework), "\n")
}

// framesOf formats the frames that omit does not reject.
func framesOf(pcs []uintptr, omit func(function string) bool) (lines []string) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" && !omit(f.Function) {
			lines = append(lines, fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line))
		}
		if !more {
			return lines
		}
	}
}

// stackOf returns a stack that says where an error was made: without the frames of the framework, unless the framework itself
// made it.
func stackOf(pcs []uintptr) string {
	lines := framesOf(pcs, isFramework)
	if len(lines) < 2 {
		lines = framesOf(pcs, func(function string) bool { return strings.HasPrefix(function, "runtime.") })
	}
	return strings.Join(lines, "\n")
}

// FirstFrames returns the first Verbose lines of a stack made by [StackPolicy.Frames], which has one frame per line and
// the innermost first, or the whole stack if Verbose is negative.
func (p StackPolicy) FirstFrames(stack string) string {
	if p.Verbose < 0 || stack == "" {
		return stack
	}
	lines := strings.SplitN(stack, "\n", p.Verbose+1)
	return strings.Join(lines[:min(len(lines), p.Verbose)], "\n")
}

// frameworkPackages lists the packages whose frames do not help to find the failure: "x." is one package, "x/" all
// packages below it. The systems of the workbench and the examples are tools and not part of the framework.
var frameworkPackages = []string{
	"runtime.", "runtime/", "testing.", "testing/", "net/http.", "net/http/", "reflect.", "internal/",
	"github.com/candor-mcp/candor.", "github.com/candor-mcp/candor/internal/", "github.com/candor-mcp/candor/wire.",
	"github.com/candor-mcp/candor/dialect.", "github.com/candor-mcp/candor/contract.",
	"github.com/candor-mcp/candor/boundary.", "github.com/candor-mcp/candor/boundary/", "github.com/candor-mcp/candor/adapters/mcpgo.", "github.com/candor-mcp/candor/cmd/internal/gateway.", "github.com/candor-mcp/candor/cmd/internal/gateway/",
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness.", "github.com/candor-mcp/candor/cmd/internal/workbench/harness/line.",
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain.",
	"github.com/modelcontextprotocol/go-sdk/", "github.com/mark3labs/mcp-go/",
}

func isFramework(function string) bool {
	return slices.ContainsFunc(frameworkPackages, func(p string) bool { return strings.HasPrefix(function, p) })
}
