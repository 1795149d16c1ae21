// Package shape reads the fenced blocks of the repository's pages. Its tests check what a compiler does not: which package imports which,
// how large files grow, whether the README is true. Each check takes a tree and returns violations.
package shape

import (
	"fmt"
	"regexp"
	"strings"
)

// Block is one fenced block of a Markdown page.
type Block struct {
	Line   int    // of the opening fence
	Lang   string // "go", "console", …
	Text   string
	Output string // the command of a preceding <!-- output: CMD -->, or ""
}

var outputMark = regexp.MustCompile(`^\s*<!-- output: (.+?) -->\s*$`)

// Blocks returns the fenced blocks of a page in order.
func Blocks(page string) []Block {
	var out []Block
	var cur *Block
	fence, command := "", ""
	for i, line := range strings.Split(page, "\n") {
		mark := fenceMark(line)
		switch {
		case cur == nil && mark != "":
			fence = mark
			cur = &Block{Line: i + 1, Lang: strings.TrimSpace(strings.Trim(line, " `~")), Output: command}
			command = ""
		case cur != nil && strings.HasPrefix(mark, fence):
			out, cur = append(out, *cur), nil
		case cur != nil:
			cur.Text += line + "\n"
		default:
			if m := outputMark.FindStringSubmatch(line); m != nil {
				command = m[1]
			} else if strings.TrimSpace(line) != "" {
				command = ""
			}
		}
	}
	return out
}

// fenceMark returns the ``` or ~~~ a line begins with, or "".
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range "`~" {
		if n := len(line) - len(strings.TrimLeft(line, string(c))); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// CompareOutput returns "" if got, the real output of the command, is what the block shows.
// A first line "$ CMD" is the prompt and must name the command; a line "…" stands for any lines.
func CompareOutput(b Block, got string) string {
	want := strings.Split(strings.TrimRight(b.Text, "\n"), "\n")
	if prompt, ok := strings.CutPrefix(want[0], "$ "); ok {
		if prompt != b.Output {
			return fmt.Sprintf("the prompt shows %q but the mark says %q", prompt, b.Output)
		}
		want = want[1:]
	}
	have := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if matchLines(want, have) {
		return ""
	}
	return fmt.Sprintf("output of %s has changed\n--- the page says\n%s\n--- the program says\n%s", b.Output, strings.Join(want, "\n"), strings.Join(have, "\n"))
}

func matchLines(want, have []string) bool {
	if len(want) == 0 {
		return len(have) == 0
	}
	if strings.TrimSpace(want[0]) == "…" {
		for i := range len(have) + 1 {
			if matchLines(want[1:], have[i:]) {
				return true
			}
		}
		return false
	}
	return len(have) > 0 && strings.TrimRight(want[0], " \t") == strings.TrimRight(have[0], " \t") && matchLines(want[1:], have[1:])
}
