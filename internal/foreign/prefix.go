package foreign

import (
	"strconv"
	"strings"
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

// peelNumber removes "MCP error -32602: " and similar prefixes.
func (r *reader) peelNumber(s string) (string, bool) {
	for _, lead := range []string{"MCP error ", "McpError: MCP error ", "JSON-RPC error ", "RPC error ", "rpc error: code = ", "Error code ", "Error "} {
		rest, ok := strings.CutPrefix(s, lead)
		if !ok {
			continue
		}
		rest = strings.TrimPrefix(rest, "(")
		end := 0
		for end < len(rest) && (isDigit(rest[end]) || end == 0 && rest[end] == '-') {
			end++
		}
		n, err := strconv.ParseInt(rest[:end], 10, 64)
		after := strings.TrimLeft(rest[end:], ")")
		if err != nil || !strings.HasPrefix(after, ":") || lead[0] == 'E' && n > -32000 {
			continue
		}
		r.number(n)
		return after[1:], true
	}
	return s, false
}

// calls are sentences that only say which tool failed. The tool's name is between before and after, bare or quoted.
var calls = []struct{ before, after string }{
	{"Error executing tool ", ":"},
	{"Error calling tool ", ":"},
	{"Error validating tool ", ":"},
	{"Error in tool ", ":"},
	{"Error in ", ":"},
	{"Error running tool ", ":"},
	{"Error invoking tool ", ":"},
	{"Failed to execute tool ", ":"},
	{"Failed to call tool ", ":"},
	{"Failed to run tool ", ":"},
	{"Failed to execute ", ":"},
	{"Error executing ", ":"},
	{"Tool execution failed for ", ":"},
	{"Tool execution failed", ":"},
	{"Tool execution error", ":"},
	{"Error executing tool", ":"},
	{"Tool ", " execution failed:"},
	{"Tool ", " failed:"},
	{"Tool ", " error:"},
	{"tool ", " failed:"},
	{"Caught Exception. Error", ":"},
	{"calling tool ", ":"},
	{"Unhandled exception in tool ", ":"},
}

func (r *reader) peelCall(s string) (string, bool) {
	for _, c := range calls {
		rest, ok := cutFold(s, c.before)
		if !ok {
			continue
		}
		head, after, ok := strings.Cut(clip(rest, 160), c.after)
		name := strings.Trim(strings.TrimSpace(head), "'\"`()")
		if !ok || name != "" && !isToolName(name) {
			continue
		}
		keep(&r.said.Tool, name)
		return rest[len(rest)-len(rest[len(head)+len(c.after):]):], after != "" || len(rest) > 160
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

// isToolName reports whether s has only characters that MCP allows in the name of a tool.
func isToolName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != '.' && c != '/' {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// validations are prefixes after which the text is about the arguments.
var validations = []string{
	"Input validation error", "Output validation error", "Input validation failed", "input schema validation failed", "Validation failed for tool ", "Validation error for tool ", "Validation failed for ", "Validation error for ", "Validation error in ", "Validation error", "Validation failed",
	"Parameter validation failed", "Schema validation failed", "Schema validation error", "Argument validation failed", "Argument validation error",
	"Validation errors", "Invalid arguments for tool ", "Invalid arguments for ", "Invalid arguments to ", "Invalid arguments", "Invalid argument", "Invalid parameters for ", "Invalid parameters", "Invalid params for ",
	"Invalid params", "Invalid input for tool ", "Invalid input for ", "Invalid input parameters", "Invalid request parameters", "Invalid request body", "Invalid request",
	"Invalid tool arguments", "Invalid tool input", "JSON RPC invalid params", "ValidationError", "ZodError", "Bad request", "Request validation failed", "unmarshal args",
	"unmarshaling arguments", "unmarshaling", "failed to deserialize parameters", "failed to parse arguments", "failed to parse parameters", "failed to unmarshal arguments", "Invalid tools/call request",
	"Invalid tools/call result", "参数验证失败", "参数校验失败", "参数错误", "输入验证错误", "Invalid options", "Invalid payload", "Invalid input",
}

// outputs are the prefixes about the result of the tool, whose faults are not in an argument.
var outputs = set("Output validation error", "Invalid tools/call result")

func (r *reader) peelValidation(s string) (string, bool) {
	if rest, ok := r.peelToolValidation(s); ok {
		return rest, true
	}
	for _, v := range validations {
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
		if word := strings.Trim(rest, ":： '\"`."); isPath(word) {
			r.single(v, word)
			return s, false
		}
		keep(&r.said.Tool, tool)
		r.validation = true
		r.said.OfOutput = r.said.OfOutput || outputs[v]
		return strings.TrimLeft(rest, ":：\n \t-–"), true
	}
	return s, false
}

// single reads "Invalid params: level", where only the name follows. The sentence is kept whole.
func (r *reader) single(lead, word string) {
	if r.args.has(word) || looksDeclared(word) || strings.Contains(strings.ToLower(lead), "param") && !never[word] && word == strings.ToLower(word) {
		r.named(word, "", lead+": "+word)
	}
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
	end := 0
	for end < len(s) && (isLetter(s[end]) || isDigit(s[end]) || s[end] == '_' || s[end] == '.') {
		end++
	}
	name := s[:end]
	if !isException(name) {
		return s, false
	}
	rest := s[end:]
	if code, after, ok := strings.Cut(strings.TrimPrefix(rest, " ["), "]"); ok && strings.HasPrefix(rest, " [") && isSymbol(code) {
		r.symbol(code)
		rest = after
	}
	if !strings.HasPrefix(rest, ": ") && !strings.HasPrefix(rest, ":\n") {
		return s, false
	}
	_, name, _ = cutLast(name, ".")
	keep(&r.said.Exception, name)
	if _, end, quoted := quotedAt(strings.TrimSpace(rest[1:]), 0); quoted && end == len(strings.TrimSpace(rest[1:])) {
		return s, false // KeyError: 'name' would be a bare word
	}
	return rest[1:], true
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
	if !strings.HasPrefix(s, "[") {
		return s, false
	}
	code, _, ok := strings.Cut(clip(s[1:], 80), "]")
	if !ok || !isSymbol(code) && !isCapital(code) {
		return s, false
	}
	rest := s[len(code)+2:]
	if strings.TrimSpace(rest) == "" {
		return s, false
	}
	r.symbol(code)
	r.said.Prefixed = true
	return strings.TrimPrefix(rest, ":"), true
}

// peelSymbol removes "FILE_NOT_FOUND: " and "REFUSE: ".
func (r *reader) peelSymbol(s string) (string, bool) {
	end := 0
	for end < len(s) && (isUpper(s[end]) || isDigit(s[end]) || s[end] == '_') {
		end++
	}
	code := s[:end]
	if !strings.HasPrefix(s[end:], ": ") || !isSymbol(code) && !refusals[code] {
		return s, false
	}
	if errnos[code] {
		return s, false // "ENOENT: no such file" is kept
	}
	r.symbol(code)
	r.said.Prefixed = true
	return s[end+1:], true
}

var refusals = set("REFUSE", "REFUSED", "DENIED", "BLOCKED", "FORBIDDEN", "REJECTED", "UNAUTHORIZED", "TIMEOUT", "CONFLICT", "INVALID", "FATAL")

// isSymbol reports whether s is UPPER_SNAKE with at least one underscore, the spelling of codes.
func isSymbol(s string) bool {
	return len(s) <= 80 && strings.Contains(s, "_") && isCapital(s)
}

// isCapital reports whether s has only capitals, digits and underscores, and at least three capitals.
func isCapital(s string) bool {
	letters := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if isUpper(c) {
			letters++
		} else if c != '_' && !isDigit(c) {
			return false
		}
	}
	return letters >= 3
}

// absences are sentences that say that a tool does not exist, with the text before and after its name.
var absences = []struct{ before, after string }{
	{"Unknown tool: ", ""}, {"unknown tool ", ""}, {"Unknown tool ", ""}, {"Tool not found: ", ""}, {"Unrecognized tool name: ", ""},
	{"No such tool: ", ""}, {"Invalid tool name: ", ""}, {"Tool ", " not found"}, {"tool ", " not found"}, {"The tool ", " was not found"},
	{"Tool ", " does not exist"}, {"Tool ", " is not enabled"}, {"Tool ", " not supported"}, {"Tool ", " is not available"}, {"Unsupported tool: ", ""},
}

// toolOf reads the name of a tool that does not exist.
func (r *reader) toolOf(s string) {
	for _, a := range absences {
		rest, ok := cutFold(s, a.before)
		if !ok {
			continue
		}
		name := rest
		if a.after != "" {
			name, _, ok = strings.Cut(rest, a.after)
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
