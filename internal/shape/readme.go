package shape

import (
	"fmt"
	"go/format"
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

// Program reports whether the block is a whole Go program rather than a fragment.
func (b Block) Program() bool { return b.Lang == "go" && strings.Contains("\n"+b.Text, "\npackage ") }

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

// transcript matches a line on which one of our commands is typed.
var transcript = regexp.MustCompile(`(?m)^\$ (?:candor|go run \./cmd/candor)\b`)

// Snippets checks what can be checked without running anything: Go fragments parse, and a
// transcript of our own program carries the mark that makes [CompareOutput] run it.
func Snippets(name, page string) []Violation {
	var found []Violation
	for _, b := range Blocks(page) {
		at := fmt.Sprintf("%s:%d", name, b.Line)
		if b.Lang == "go" {
			if _, err := format.Source([]byte(b.Text)); err != nil {
				found = append(found, Violation{at, "this Go does not parse: " + err.Error(), "the first thing a reader does is copy it"})
			}
		}
		if b.Output == "" && transcript.MatchString(b.Text) {
			found = append(found, Violation{at, "a transcript without <!-- output: CMD --> above it", "an unmarked transcript is never compared with the program and goes stale unseen"})
		}
	}
	return found
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
