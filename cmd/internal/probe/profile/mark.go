package profile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/mask"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// flags are members that mark a failure inside a success, the clearest first.
var flags = []Mask{
	{Path: "/ok", Equals: "false"}, {Path: "/success", Equals: "false"}, {Path: "/succeeded", Equals: "false"},
	{Path: "/data/ok", Equals: "false"}, {Path: "/data/success", Equals: "false"}, {Path: "/result/success", Equals: "false"}, {Path: "/result/ok", Equals: "false"},
	{Path: "/isError", Equals: "true"}, {Path: "/is_error", Equals: "true"}, {Path: "/error", Equals: "true"},
	{Path: "/status", Equals: `"error"`}, {Path: "/status", Equals: `"failed"`}, {Path: "/status", Equals: `"failure"`}, {Path: "/type", Equals: `"error"`},
	{Path: "/result/type", Equals: `"error"`},
	// Several items, none of which succeeded.
	{Path: "/0/success", Equals: "false", Except: `"success"\s*:\s*true`}, {Path: "/0/ok", Equals: "false", Except: `"ok"\s*:\s*true`},
	{Path: "/results/0/success", Equals: "false", Except: `"success"\s*:\s*true`}, {Path: "/results/0/ok", Equals: "false", Except: `"ok"\s*:\s*true`},
	{Path: "/0/status", Equals: `"rejected"`, Except: `"status"\s*:\s*"([^r]|r[^e])`},
	{Path: "/0/status", Equals: `"error"`, Except: otherStatus}, {Path: "/0/status", Equals: `"failed"`, Except: otherStatus},
	{Path: "/0/error", Except: severalItems}, {Path: "/results/0/error", Except: severalItems},
	{Path: "/error/message"}, {Path: "/error"}, {Path: "/errors/0"}, {Path: "/error_code"}, {Path: "/errorMessage"}, {Path: "/error_message"}, {Path: "/data/error"}, {Path: "/result/error"},
}

const (
	// severalItems matches a list of several objects, some of which may have succeeded.
	severalItems = `\}\s*,\s*\{`
	// otherStatus matches a status other than error, failed and failure.
	otherStatus = `"status"\s*:\s*"([^ef]|e[^r]|f[^a])`
	// inText matches a text that is JSON. Exceptions are matched only against the first text, not structuredContent.
	inText = `^\s*[\[{]`
)

// Candidates returns rules for a result that is a failure, without their tool: marks in JSON, then expressions for the
// first text, the shortest first. The arguments of the call are unknown, and the last rules match whole lines, so they
// suit only masks that are limited to suspected answers. It returns nil if no rule can describe the result.
func Candidates(result wire.Value) (out []Mask) {
	s := &parsedAnswer{result: result, text: mask.Text(result)}
	all := marks(s)
	// A status number is one failure of several, so that a mark that they have in common comes first.
	slices.SortStableFunc(all, func(a, b Mask) int { return rank(a) - rank(b) })
	for _, m := range append(all, Mask{Text: underTitle(s.text)}, Mask{Text: firstLine(s.text)}) {
		if m.holds(s) {
			out = append(out, m)
		}
	}
	return out
}

// rank orders rules: marks, status numbers, texts.
func rank(m Mask) int {
	_, err := strconv.Atoi(m.Equals)
	switch {
	case m.Path == "":
		return 2
	case err == nil:
		return 1
	}
	return 0
}

// firstLine returns an expression for the whole first line of a text. Words that may differ between calls match any word.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	words := wordsOf(line, nil)
	fixed := 0
	for _, w := range words {
		if w.fixed {
			fixed++
		}
	}
	if fixed < leastFixed || len(words) > mostSaid {
		return ""
	}
	return `^\s*` + joined(words) + `\s*(\n|$)`
}

// leastFixed is how many fixed words a first line needs.
const leastFixed = 2

// underTitle returns an expression for a failure below a line that only names its subject, as in "# notes.md\n\nError
// reading file: …". It matches only if nothing but that failure follows.
func underTitle(text string) string {
	title, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	if !strings.HasPrefix(title, "#") {
		return ""
	}
	below := beginnings(wordsOf(line, nil))
	if len(below) == 0 {
		return ""
	}
	return `^\s*#[^\n]*\n` + strings.TrimPrefix(below[0], "^") + `[^\n]*[\s-]*$`
}

// marks returns candidate rules for a masked answer, the most specific first.
func marks(s *parsedAnswer) (out []Mask) {
	for _, name := range []string{"/status_code", "/statusCode", "/status", "/code"} {
		for v := range mask.At(s.result, name) {
			if n, ok := v.Int64(); ok && n >= 400 && n < 600 {
				out = append(out, Mask{Path: name, Equals: strconv.FormatInt(n, 10)})
			}
		}
	}
	for _, f := range flags {
		if f.Except != "" {
			f.Text = inText
		}
		if f.holds(s) {
			out = append(out, f)
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(s.text), "\n")
	for _, text := range append(beginnings(wordsOf(line, s.values)), complaintAbout(s.text), sentence(s.text, s.values)) {
		if text != "" {
			out = append(out, Mask{Text: text})
		}
	}
	return out
}

// holds reports whether the gateway would apply the rule to an answer.
func (m *Mask) holds(s *parsedAnswer) bool {
	test, err := mask.Rule{Path: m.Path, Equals: m.Equals, Text: m.Text, Except: m.Except}.Compile()
	return err == nil && test.Holds(s.result)
}

// complaintAbout returns an expression for a text that begins with its subject, as in "/some/file: Error - access
// denied". It matches only a single line: further lines may be content, or another item that succeeded.
func complaintAbout(text string) string {
	about, rest, _ := strings.Cut(strings.TrimSpace(text), ": ")
	words := strings.Fields(rest)
	if strings.ContainsAny(text, "\r\n") || strings.ContainsAny(about, " \t") || !varies(about) || len(words) == 0 || !complaint.MatchString(words[0]) {
		return ""
	}
	expression := `^\S+:`
	for _, word := range words[:min(len(words), 2)] { // more words would be specific to one error
		if varies(word) {
			break
		}
		expression += " " + regexp.QuoteMeta(word)
	}
	return expression + `( [^\r\n]*)?$`
}

// meanings are the codes of the faults of the fake upstream.
var meanings = map[string]candor.Code{
	"401": candor.CodeUpstreamUnauthenticated, "403": candor.CodeUpstreamForbidden, "404": candor.CodeUpstreamNotFound, "409": candor.CodeUpstreamConflict,
	"422": candor.CodeUpstreamRejected, "429": candor.CodeUpstreamRateLimited, "500": candor.CodeUpstreamError, "503": candor.CodeUpstreamUnavailable,
	"down": candor.CodeUpstreamUnreachable, "slow": candor.CodeUpstreamTimeout,
}

// codeFor returns the code of a case if the server gives none, the zero Code if it is not certain.
func codeFor(c *probe.Case) candor.Code {
	switch {
	case c.Group == probe.GroupValidation:
		return candor.CodeInvalidArguments
	case c.Name == probe.CaseNonexistent:
		return candor.CodeNotFound
	}
	return meanings[c.Fault]
}

// codes returns rules for reported errors without a code.
func (l *toolAnswers) codes() (out []CodeRule) {
	for i := range l.failed {
		s := &l.failed[i]
		code := codeFor(&s.at.Case)
		if s.reading.Error == nil || s.reading.Error.Code() != candor.CodeUnknownToolFailure || !code.Valid() {
			continue
		}
		rule, ok := l.codeRule(s, code)
		if ok && !slices.ContainsFunc(out, func(have CodeRule) bool { return have.Text == rule.Text && have.Tool == rule.Tool }) {
			out = append(out, rule)
		}
	}
	return out
}

// codeRule returns a rule for the first words of an error. It must not match another error of the same tool.
func (l *toolAnswers) codeRule(s *parsedAnswer, code candor.Code) (CodeRule, bool) {
	message := s.reading.Error.Message()
	for _, text := range openings(wordsOf(message, s.values)) {
		e, err := regexp.Compile(text)
		if err != nil || !e.MatchString(message) {
			continue
		}
		clash := func(other parsedAnswer) bool {
			return other.reading.Error != nil && e.MatchString(other.reading.Error.Message()) && codeFor(&other.at.Case) != code
		}
		if !slices.ContainsFunc(l.failed, clash) {
			return CodeRule{Tool: l.tool, Text: text, Code: code, Note: "seen for " + s.at.Case.Name}, true
		}
	}
	return CodeRule{}, false
}
