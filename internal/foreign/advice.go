package foreign

import (
	"cmp"
	"html"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// splitAdvice records advice in separate lines after the sentence and returns the text before it. A text that is only advice is
// returned whole.
func (r *reader) splitAdvice(s string) string {
	for at := 0; at < len(s); {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			end = len(s) - at
		}
		if lead, ok := adviceLead(s[at : at+end]); ok {
			advice := strings.TrimSpace(s[at+lead:])
			keep(&r.said.Suggestion, advice)
			r.validationNames(advice)
			if at == 0 {
				return s
			}
			return strings.TrimSpace(s[:at])
		}
		at += end + 1
	}
	return s
}

// adviceLead returns the length of the heading of a line of advice.
func adviceLead(line string) (int, bool) {
	trimmed := strings.TrimLeft(line, " *-#>")
	low := lowerASCII(trimmed)
	for _, lead := range tables().AdviceLeads {
		if strings.HasPrefix(low, lead) {
			return len(line) - len(trimmed) + len(lead), true
		}
	}
	return 0, false
}

// validationNames reads the names in "Provide a, b and c", which some servers write only in their advice.
func (r *reader) validationNames(advice string) {
	for line := range strings.SplitSeq(advice, "\n") {
		line = strings.TrimLeft(line, "-*• ")
		if rest, ok := strings.CutPrefix(line, "Provide "); ok {
			r.provide(rest)
		}
	}
}

func (r *reader) provide(rest string) {
	toks := tokens(rest)
	if len(toks) == 0 {
		return
	}
	_, names := r.prose(toks).find(provided(), 0)
	for _, name := range names {
		r.named(name, "required", "Provide "+firstSentence(rest))
	}
}

var provided = sync.OnceValue(func() *grammar { return newGrammar("required: a|an|the|valid|both|either? valid? IDENTS") })

// requestIDs are the names before the id of a request in the peer's log, as in "(request id: req_123)".
var requestIDs = lazyregexp.New(`(?i)(?:^|[^a-z_])(?:(?:x-)?request|correlation|trace|incident|error|reference|activity)[ _-]?id[ :="'~≈()\t\\]*([\w:.-]{6,128})`)

// requestOf finds the peer's reference.
func (r *reader) requestOf(s string) {
	if !strings.ContainsAny(s, "0123456789") { // an id has one
		return
	}
	for _, m := range requestIDs.Get().FindAllStringSubmatch(s, -1) {
		if id := strings.TrimRight(m[1], ".:-_"); len(id) >= 6 && strings.ContainsAny(id, "0123456789") {
			keep(&r.said.RequestID, id)
			return
		}
	}
}

// cutPage splits a text at an HTML document that it contains.
func cutPage(s string) (before, page string, ok bool) {
	low := lowerASCII(s)
	at := -1
	for _, open := range []string{"<!doctype html", "<html", "<head>", "<body"} {
		if i := strings.Index(low, open); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 || !strings.Contains(low[at:], "</") {
		return s, "", false
	}
	return strings.TrimSpace(s[:at]), s[at:], true
}

// page reads an HTML error page: the status and the sentence from its title or heading.
func (r *reader) page(page string) string {
	r.said.Page = true
	title, heading := element(page, titles), element(page, headings)
	r.statusOf(title)
	r.statusOf(heading)
	switch {
	case isIndex(title) || title == "":
		title = heading
	case strings.EqualFold(title, "error"):
		title = cmp.Or(heading, title)
	}
	if title == "" {
		title = clip(plainText(page), 200)
	}
	return title
}

var (
	titles   = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title`)
	headings = lazyregexp.New(`(?is)<h1[^>]*>(.*?)</h1`)
	tags     = lazyregexp.New(`<[^>]*>?`)
)

// element returns the text inside the first element that matches.
func element(page string, form *lazyregexp.Regexp) string {
	if m := form.Get().FindStringSubmatch(page); m != nil {
		return html.UnescapeString(plainText(m[1]))
	}
	return ""
}

// plainText returns a text without tags and line breaks.
func plainText(s string) string {
	return strings.Join(strings.Fields(tags.Get().ReplaceAllString(s, " ")), " ")
}
