package console

import "strings"

// diffLine is a line of an answer.
type diffLine struct {
	Text    string
	Changed bool // only this side has it
}

// Limits of a comparison. Lines beyond them are shown without marks.
const (
	maxDiffLines = 800
	maxLineBytes = 4000
)

// compare splits two answers into lines and marks those that only one has. An answer without a counterpart has no marks.
func compare(said, got *exchangeText) {
	for _, t := range []*exchangeText{said, got} {
		if t != nil {
			t.split()
		}
	}
	if said != nil && got != nil {
		markChanges(said.Lines, got.Lines)
	}
}

// markChanges marks the lines that only one of two texts has.
func markChanges(a, b []diffLine) {
	a, b = a[:min(len(a), maxDiffLines)], b[:min(len(b), maxDiffLines)]
	for i := range a {
		a[i].Changed = true
	}
	for i := range b {
		b[i].Changed = true
	}
	length := commonLengths(a, b)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case sameLine(a[i].Text, b[j].Text):
			a[i].Changed, b[j].Changed = false, false
			i++
			j++
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
}

// split indents the answer and splits it into lines.
func (t *exchangeText) split() {
	for line := range strings.SplitSeq(indented(t.Text), "\n") {
		if len(line) > maxLineBytes {
			line = strings.ToValidUTF8(line[:maxLineBytes], "") + " …"
		}
		t.Lines = append(t.Lines, diffLine{Text: line})
	}
}

// sameLine ignores the comma at the end, which depends on the next line.
func sameLine(a, b string) bool { return strings.TrimSuffix(a, ",") == strings.TrimSuffix(b, ",") }

// commonLengths returns the length of the longest common subsequence of each pair of suffixes.
func commonLengths(a, b []diffLine) [][]int32 {
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if sameLine(a[i].Text, b[j].Text) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	return length
}
