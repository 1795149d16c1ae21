package foreign

import (
	"strings"
	"unicode/utf8"
)

// effect reads the trees that Effect's schemas print: a step of the path to a branch, the reason at its leaf.
//
//	{ readonly days: number }
//	└─ ["days"]
//	   └─ Expected number, actual "x"
func (r *reader) effect(s string) bool {
	if !strings.Contains(s, "─ [") {
		return false
	}
	found := false
	var depths []int
	var steps []string
	for line := range strings.Lines(s) {
		content := strings.TrimLeft(line, " │├└─")
		depth := utf8.RuneCountInString(line[:len(line)-len(content)])
		for len(depths) > 0 && depths[len(depths)-1] >= depth {
			depths, steps = depths[:len(depths)-1], steps[:len(steps)-1]
		}
		content = strings.TrimSpace(content)
		if step, ok := branch(content); ok {
			depths, steps = append(depths, depth), append(steps, step)
			continue
		}
		if plainSteps(steps) && isLeaf(content) {
			found = true
			r.place(append([]string(nil), steps...), "", content)
		}
	}
	return found
}

// branch reads ["days"] or [0] as a line of its own.
func branch(content string) (step string, ok bool) {
	inside, ok := strings.CutPrefix(content, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	step = strings.Trim(inside, "\"")
	return step, ok && closed && (isIndex(step) || isPath(step))
}

// isLeaf tells the reason from the printed type that may stand between it and the path.
func isLeaf(content string) bool {
	return strings.HasPrefix(content, "Expected ") || strings.HasPrefix(content, "is ") || strings.Contains(content, "actual ")
}
