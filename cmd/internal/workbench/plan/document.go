package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// fence is the line before and after the front matter.
const fence = "---"

// document reads a whole plan. The result is valid only if no issue is an error.
func (l *linter) document(content []byte) *Plan {
	p := &Plan{}
	if len(content) > 2*MaxContent { // checked before copying; line end conversion at most halves the size
		l.tooLarge()
		return p
	}
	body := string(Canonical(content))
	if len(body) > MaxContent {
		l.tooLarge()
		return p
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if !l.plainText(lines) {
		return p
	}
	front, text, ok := l.split(lines)
	if !ok {
		return p
	}
	l.frontMatter(p, front)
	l.text(text, len(front)+3)
	p.Text = strings.Join(text, "\n") + "\n"
	return p
}

func (l *linter) tooLarge() {
	l.fail(0, 0, "size", fmt.Sprintf("the plan is larger than %d KiB", MaxContent>>10), "split it into several plans")
}

// plainText refuses bytes that are not text. Nothing else is checked then, because positions would be meaningless.
func (l *linter) plainText(lines []string) bool {
	for i, line := range lines {
		if !utf8.ValidString(line) {
			l.fail(i+1, 1, "utf8", "the line is not UTF-8", "save the plan as UTF-8 text")
		}
		column := 0
		for _, r := range line {
			column++
			if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
				l.fail(i+1, column, "control-character", fmt.Sprintf("the line holds the control character U+%04X", r), "remove it")
				break
			}
		}
	}
	if strings.HasPrefix(lines[0], "\ufeff") {
		l.fail(1, 1, "hidden-character", "the plan begins with a byte order mark", "save it as UTF-8 without one")
	}
	return len(l.issues) == 0
}

// split separates the front matter from the text. The first line of text has the number len(front)+3.
func (l *linter) split(lines []string) (front, text []string, ok bool) {
	if strings.HasPrefix(lines[0], headerStart) {
		l.fail(1, 1, "header", "the plan begins with a header", "leave the first line out; the header is written when the plan is stored")
		return nil, nil, false
	}
	if strings.TrimRight(lines[0], " \t") != fence {
		l.fail(1, 1, "front-matter", "the plan does not begin with front matter", "begin with a line of three dashes, then title: and scope:, then three dashes again")
		return nil, nil, false
	}
	for i, line := range lines[1:] {
		if strings.TrimRight(line, " \t") == fence {
			return lines[1 : i+1], lines[i+2:], true
		}
	}
	l.fail(1, 1, "front-matter", "the front matter does not end", "close it with a line of three dashes")
	return nil, nil, false
}

// text checks the Markdown; first is the number of its first line.
func (l *linter) text(lines []string, first int) {
	if strings.TrimSpace(strings.Join(lines, "")) == "" {
		l.fail(first, 1, "empty-text", "the plan has no text", "say below the front matter what is to be done, and why")
		return
	}
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), headerStart) {
			l.fail(first+i, 1, "header", "a line of the text looks like the header of a plan", "leave it out, or indent it as code behind another word")
		}
	}
}
