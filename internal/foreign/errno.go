package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// errnoOf finds the system error that a text names.
func (r *reader) errnoOf(s string) {
	if name := errnoIn(s); name != "" {
		keep(&r.said.Errno, name)
		return
	}
	low := strings.ToLower(s)
	for _, words := range tables().Broken {
		if strings.Contains(low, words) {
			r.said.Disconnected = true
			return
		}
	}
	if strings.HasSuffix(s, ": EOF") || s == "EOF" {
		r.said.Disconnected = true
	}
}

var (
	errnoForm     = lazyregexp.New(`(?:^|[^A-Za-z_])(E[A-Z_]+)`)
	exceptionForm = lazyregexp.New(`(?:^|[^A-Za-z._])([A-Z]\w*)[:(]`)
)

// exceptionOf and symbolsOf look for a character of their expression first, because most texts have none.

func errnoIn(s string) string {
	for _, m := range errnoForm.Get().FindAllStringSubmatch(s, -1) {
		if tables().ErrnoNames[m[1]] {
			return m[1]
		}
	}
	low := lowerASCII(s)
	for _, e := range tables().Errnos {
		if strings.Contains(low, e.Text) {
			return e.Value
		}
	}
	return ""
}

// exceptionOf finds the name of an exception inside a sentence: "failed: ValueError: …", "ConnectionError(…".
func (r *reader) exceptionOf(s string) {
	if !strings.ContainsAny(s, ":(") {
		return
	}
	for _, m := range exceptionForm.Get().FindAllStringSubmatch(s, -1) {
		if isException(m[1]) {
			keep(&r.said.Exception, m[1])
			return
		}
	}
}

// symbolForm finds (CODE), [CODE], a word with the prefix of a known vocabulary, and code: CODE.
var symbolForm = lazyregexp.New(`[(\[]["']?([A-Z0-9_]+)["']?[)\]]|(?:^|[^\w])((?:ERR_|UND_ERR_|SQLITE_|E_|PGRST)[A-Z0-9_]+)\b|` +
	`(?i:\b(?:code|reason))["']? *[:=] *["'` + "`" + `]?([A-Z0-9_]+)\b`)

// symbolsOf finds code words inside a sentence.
func (r *reader) symbolsOf(s string) {
	if !strings.ContainsAny(s, "([_:=") && !strings.Contains(s, "PGRST") {
		return
	}
	for _, m := range symbolForm.Get().FindAllStringSubmatch(s, -1) {
		name := m[1] + m[2] + m[3]
		if !tables().ErrnoNames[name] && (isSymbol(name) || m[3] != "" && isCapital(name)) {
			r.symbol(name)
		}
	}
}
