package shape

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	linkRef = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s+<?(\S+?)>?(?:\s|$)`)
	code    = regexp.MustCompile("`[^`]*`")
	scheme  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
)

// checkLinks checks that every relative link in a Markdown file leads to a file or folder of the
// repository, and that its #anchor is a heading there.
func checkLinks(fsys fs.FS) ([]violation, error) {
	var found []violation
	headings := map[string]map[string]bool{}
	pages := map[string][]string{}
	err := walk(fsys, func(name string, data []byte) error {
		if path.Ext(name) == ".md" && !strings.Contains("/"+name, "/testdata/") {
			pages[name] = prose(string(data))
			headings[name] = anchors(pages[name])
		}
		return nil
	})
	for name, lines := range pages {
		for i, line := range lines {
			for _, target := range targets(line) {
				if what := checkLink(fsys, headings, name, target); what != "" {
					found = append(found, violation{fmt.Sprintf("%s:%d", name, i+1), what,
						"readers follow links"})
				}
			}
		}
	}
	return found, err
}

// prose returns the lines of a page with fenced blocks emptied, so that numbers stay right.
func prose(page string) []string {
	lines := strings.Split(page, "\n")
	fence := ""
	for i, line := range lines {
		mark := fenceMark(line)
		switch {
		case fence == "" && mark != "":
			fence, lines[i] = mark, ""
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(line, " `~") == "" {
				fence = ""
			}
			lines[i] = ""
		}
	}
	return lines
}

func targets(line string) []string {
	line = code.ReplaceAllString(line, "")
	var out []string
	for _, m := range link.FindAllStringSubmatch(line, -1) {
		out = append(out, m[1])
	}
	if m := linkRef.FindStringSubmatch(line); m != nil {
		out = append(out, m[1])
	}
	return out
}

func checkLink(fsys fs.FS, headings map[string]map[string]bool, page, target string) string {
	if scheme.MatchString(target) || strings.HasPrefix(target, "//") {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := page
	if file != "" {
		to = path.Join(path.Dir(page), file)
	}
	if strings.HasPrefix(file, "/") || strings.HasPrefix(to, "../") {
		return fmt.Sprintf("link %s leaves the repository", target)
	}
	if _, err := fs.Stat(fsys, to); err != nil {
		return fmt.Sprintf("link %s is dead: there is no %s", target, to)
	}
	if anchor != "" && headings[to] != nil && !headings[to][anchor] {
		return fmt.Sprintf("link %s: %s has no heading #%s", target, to, anchor)
	}
	return ""
}

// anchors returns the heading anchors of a page, spelled as the common renderers do.
func anchors(lines []string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines {
		text := strings.TrimLeft(line, "#")
		if text == line || !strings.HasPrefix(text, " ") {
			continue
		}
		name := anchor(text)
		for n := 1; set[name]; n++ {
			name = fmt.Sprintf("%s-%d", anchor(text), n)
		}
		set[name] = true
	}
	return set
}

func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, strings.TrimSpace(heading))
}
