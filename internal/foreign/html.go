package foreign

import (
	"html"
	"strings"
)

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
	title, heading := element(page, "title"), element(page, "h1")
	r.statusOf(title)
	r.statusOf(heading)
	switch {
	case isIndex(title) || title == "":
		title = heading
	case strings.EqualFold(title, "error"):
		title = firstOf(heading, title)
	}
	if title == "" {
		title = clip(strings.Join(strings.Fields(stripTags(page)), " "), 200)
	}
	return title
}

// element returns the text inside the first element of that name.
func element(page, name string) string {
	low := lowerASCII(page)
	i := strings.Index(low, "<"+name)
	if i < 0 {
		return ""
	}
	open := strings.IndexByte(low[i:], '>')
	if open < 0 {
		return ""
	}
	begin := i + open + 1
	n := strings.Index(low[begin:], "</"+name)
	if n < 0 || begin+n > len(page) {
		return ""
	}
	return strings.Join(strings.Fields(html.UnescapeString(stripTags(page[begin:begin+n]))), " ")
}

func stripTags(s string) string {
	var b strings.Builder
	inside := false
	for _, c := range s {
		switch {
		case c == '<':
			inside = true
		case c == '>':
			inside = false
			b.WriteByte(' ')
		case !inside:
			b.WriteRune(c)
		}
	}
	return b.String()
}
