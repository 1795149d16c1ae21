package foreign

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/phrase"
)

// wrappers are the prefixes that SDKs and servers put in front of a sentence. Each function removes one prefix and records its
// facts.
var wrappers = []func(r *reader, s string) (rest string, ok bool){
	(*reader).peelMark,
	(*reader).peelNumber,
	(*reader).peelCall,
	(*reader).peelValidation,
	(*reader).peelError,
	(*reader).peelException,
	(*reader).peelBracket,
	(*reader).peelSymbol,
}

// maxWrappers is the maximum number of prefixes that are removed; real texts have up to five.
const maxWrappers = 10

// peel removes prefixes until a sentence remains.
func (r *reader) peel(s string) string {
	for range maxWrappers {
		rest, ok := r.peelOne(s)
		if !ok {
			break
		}
		s = rest
	}
	r.toolOf(s)
	return peelInner(s)
}

// peelInner removes the SDK's prefix from the middle of a text, where a server wrapped an error that already had one.
func peelInner(s string) string {
	for range maxWrappers {
		before, rest, ok := strings.Cut(s, ": MCP error -")
		number, after, colon := strings.Cut(rest, ": ")
		if !ok || !colon || !isIndex(number) {
			break
		}
		s = before + ": " + after
	}
	return s
}

func (r *reader) peelOne(s string) (string, bool) {
	for _, w := range wrappers {
		if rest, ok := w(r, s); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return s, false
}

// peelMark removes decoration such as "❌ Error" and "**Error**:".
func (r *reader) peelMark(s string) (string, bool) {
	rest := strings.TrimLeft(s, "❌✖🚫⚠✗🔴💥❗⛔ *#>\ufe0f")
	if len(rest) == len(s) || rest == "" {
		return rest, false
	}
	return closeEmphasis(s[:len(s)-len(rest)], rest), true
}

// closeEmphasis removes the end of an emphasis from the first line of s, if marks, which were removed from s, contain its
// beginning.
func closeEmphasis(marks, s string) string {
	stars := marks[len(strings.TrimRight(marks, "*")):]
	if stars == "" {
		return s
	}
	line, _, _ := strings.Cut(s, "\n")
	at := strings.Index(line, stars)
	if at < 0 || strings.HasPrefix(line[at+len(stars):], "*") {
		return s
	}
	return s[:at] + s[at+len(stars):]
}

var (
	numberPrefix    = lazyregexp.New(`^((?:McpError: )?MCP error|JSON-RPC error|RPC error|rpc error: code =|Error code|Error) \(?(-?\d+)\)*:`)
	exceptionPrefix = lazyregexp.New(`^([A-Za-z0-9_.]+)(?: \[([A-Z0-9_]+)\])?:[ \n]`)
	bracketPrefix   = lazyregexp.New(`^\[([A-Z0-9_]{3,80})\]:?`)
	symbolPrefix    = lazyregexp.New(`^([A-Z0-9_]+): `)
)

// peelNumber removes "MCP error -32602: " and similar prefixes.
func (r *reader) peelNumber(s string) (string, bool) {
	m := numberPrefix.Get().FindStringSubmatch(s)
	if m == nil {
		return s, false
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil || m[1][0] == 'E' && n > -32000 {
		return s, false
	}
	r.number(n)
	return s[len(m[0]):], true
}

// peelCall removes a sentence that only says which tool failed. The name of the tool is bare or quoted.
func (r *reader) peelCall(s string) (string, bool) {
	for _, c := range tables().Calls {
		rest, ok := cutFold(s, c.Text)
		if !ok {
			continue
		}
		head, after, ok := strings.Cut(clip(rest, 160), c.Value)
		name := strings.Trim(strings.TrimSpace(head), "'\"`()")
		if !ok || name != "" && !isToolName(name) {
			continue
		}
		keep(&r.said.Tool, name)
		return rest[len(rest)-len(rest[len(head)+len(c.Value):]):], after != "" || len(rest) > 160
	}
	return s, false
}

// cutFold is strings.CutPrefix for ASCII in any case.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

var toolName = lazyregexp.New(`^[A-Za-z0-9_./-]{1,128}$`)

// isToolName reports whether s has only characters that MCP allows in the name of a tool.
func isToolName(s string) bool { return toolName.MatchString(s) }

// outputs are the prefixes about the result of the tool, whose faults are not in an argument.
var outputs = phrase.SetOf("Output validation error", "Invalid tools/call result")

// peelValidation removes a prefix after which the text is about the arguments.
func (r *reader) peelValidation(s string) (string, bool) {
	if rest, ok := r.peelToolValidation(s); ok {
		return rest, true
	}
	for _, v := range tables().Validations {
		rest, ok := cutFold(s, v)
		if !ok {
			continue
		}
		tool := ""
		if strings.HasSuffix(v, " ") {
			tool, rest, ok = strings.Cut(rest, ":")
			tool = strings.Trim(strings.TrimSuffix(strings.TrimSpace(tool), " tool"), "'\"`")
			ok = ok && isToolName(tool)
			rest = ":" + rest
		}
		if rest == "" || !ok || !opensRest(rest) || strings.HasPrefix(rest, ": expected") { // a sentence of zod 4
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(rest, ":： "), "(") {
			return s, false // only a reason without a name would remain
		}
		if isPath(strings.Trim(rest, ":： '\"`.")) {
			return s, false
		}
		keep(&r.said.Tool, tool)
		r.validation = true
		r.said.OfOutput = r.said.OfOutput || outputs[v]
		return strings.TrimLeft(rest, ":：\n \t-–"), true
	}
	return s, false
}

// opensRest reports whether rest begins with a mark after which the reason follows.
func opensRest(rest string) bool {
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "：") || rest[0] == '\n' || strings.HasPrefix(rest, " - ") || strings.HasPrefix(rest, " [") || strings.HasPrefix(rest, " {")
}

// peelToolValidation removes "Tool 'x' parameter validation failed: ".
func (r *reader) peelToolValidation(s string) (string, bool) {
	rest, ok := cutFold(s, "Tool ")
	if !ok {
		return s, false
	}
	head, _, ok := strings.Cut(clip(rest, 160), " parameter validation failed:")
	if !ok || !isToolName(strings.Trim(head, "'\"`")) {
		return s, false
	}
	keep(&r.said.Tool, strings.Trim(head, "'\"`"))
	r.validation = true
	return rest[len(head)+len(" parameter validation failed:"):], true
}

// peelError removes the word "Error" in several languages.
func (r *reader) peelError(s string) (string, bool) {
	for _, lead := range []string{"Error: ", "ERROR: ", "error: ", "Error - ", "ERROR - ", "Error**: ", "Error:** ", "[ERROR] ", "[error] ", "Fatal error: ", "Uncaught Error: ", "Uncaught ", "Exception: ",
		"错误：", "错误: ", "エラー: ", "エラー：", "Fehler: ", "Erreur : ", "Erreur: ", "Ошибка: ", "오류: "} {
		if rest, ok := strings.CutPrefix(s, lead); ok && rest != "" {
			return rest, true
		}
	}
	return s, false
}

// peelException removes "TypeError: ", also with a code as Node writes it: "TypeError [ERR_X]: ".
func (r *reader) peelException(s string) (string, bool) {
	m := exceptionPrefix.Get().FindStringSubmatch(s)
	if m == nil || !isException(m[1]) || m[2] != "" && !isSymbol(m[2]) {
		return s, false
	}
	r.symbol(m[2])
	keep(&r.said.Exception, m[1][strings.LastIndexByte(m[1], '.')+1:])
	rest := s[len(m[0])-1:]
	if _, end, quoted := quotedAt(strings.TrimSpace(rest), 0); quoted && end == len(strings.TrimSpace(rest)) {
		return s, false // KeyError: 'name' would be a bare word
	}
	return rest, true
}

// isException reports whether name is like TypeError, FileNotFoundError or java.io.IOException.
func isException(name string) bool {
	_, last, _ := cutLast(name, ".")
	for _, tail := range []string{"Error", "Exception", "Failure", "Timeout"} {
		if head, ok := strings.CutSuffix(last, tail); ok && head != "" && isUpper(last[0]) {
			return true
		}
	}
	return false
}

// peelBracket removes "[CODE] ".
func (r *reader) peelBracket(s string) (string, bool) {
	m := bracketPrefix.Get().FindStringSubmatch(s)
	if m == nil || !isCapital(m[1]) || strings.TrimSpace(s[len(m[0]):]) == "" {
		return s, false
	}
	r.symbol(m[1])
	r.said.Prefixed = true
	return s[len(m[0]):], true
}

// peelSymbol removes "FILE_NOT_FOUND: " and "REFUSE: ". A system error is kept, as in "ENOENT: no such file".
func (r *reader) peelSymbol(s string) (string, bool) {
	m := symbolPrefix.Get().FindStringSubmatch(s)
	if m == nil || !isSymbol(m[1]) && !refusals[m[1]] || tables().ErrnoNames[m[1]] {
		return s, false
	}
	r.symbol(m[1])
	r.said.Prefixed = true
	return s[len(m[0])-1:], true
}

var refusals = phrase.SetOf(strings.Fields(`
	REFUSE REFUSED DENIED BLOCKED FORBIDDEN REJECTED UNAUTHORIZED TIMEOUT CONFLICT INVALID FATAL`)...)

// isSymbol reports whether s is UPPER_SNAKE with at least one underscore, the spelling of codes.
func isSymbol(s string) bool {
	return len(s) <= 80 && strings.Contains(s, "_") && isCapital(s)
}

var capital = lazyregexp.New(`^[0-9_]*(?:[A-Z][0-9_]*){3,}$`)

// isCapital reports whether s has only capitals, digits and underscores, and at least three capitals.
func isCapital(s string) bool { return capital.MatchString(s) }

// toolOf reads the name of a tool that does not exist.
func (r *reader) toolOf(s string) {
	for _, a := range tables().Absences {
		rest, ok := cutFold(s, a.Text)
		if !ok {
			continue
		}
		name := rest
		if a.Value != "" {
			name, _, ok = strings.Cut(rest, a.Value)
		} else if i := strings.IndexAny(rest, " ,;\n"); i > 0 {
			name = rest[:i]
		}
		name = strings.Trim(strings.TrimSpace(name), "'\"`.")
		if ok && (name == "" || isToolName(name)) {
			keep(&r.said.Tool, name)
			r.said.UnknownTool = true
			return
		}
	}
}
