package candorvet

import (
	"bytes"
	"go/ast"
	"go/token"
	"strings"
)

const allowPrefix = "//candor:allow"

// allowance is a place where a rule may be broken.
type allowance struct {
	line int
	rule string
}

// readAllowances collects the allow comments of a file. One that names no rule or no reason allows nothing and is reported: a
// suppression that nobody can explain is how a linter dies.
func (v *vet) readAllowances(file *ast.File) map[allowance]bool {
	found := map[allowance]bool{}
	var lines [][]byte // read when the first comment asks for it
	for _, group := range file.Comments {
		for _, c := range group.List {
			rest, ok := strings.CutPrefix(c.Text, allowPrefix)
			if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				continue
			}
			words := strings.Fields(rest)
			if len(words) == 0 {
				v.reportAllow(c, "this comment names no rule")
				continue
			}
			if _, known := ruleNamed(words[0]); !known {
				v.reportAllow(c, "there is no rule "+words[0])
				continue
			}
			if len(words) == 1 || strings.HasPrefix(words[1], "//") {
				v.reportAllow(c, "this comment gives no reason")
				continue
			}
			if lines == nil {
				lines = v.linesOf(file)
			}
			found[allowance{lineMeant(lines, v.pass.Fset.Position(c.Pos())), words[0]}] = true
		}
	}
	return found
}

// lineMeant is the comment's own line, or the first line of code below a comment that stands alone.
func lineMeant(lines [][]byte, at token.Position) int {
	line := at.Line
	for line <= len(lines) && bytes.HasPrefix(bytes.TrimSpace(lines[line-1]), []byte("//")) {
		line++
	}
	return line
}

func (v *vet) linesOf(file *ast.File) [][]byte {
	return bytes.Split(v.source(file), []byte("\n"))
}

// allows reports whether a rule may be broken on the line of any of these places.
func (v *vet) allows(rule string, places ...token.Pos) bool {
	for _, at := range places {
		if v.allowed[allowance{v.pass.Fset.Position(at).Line, rule}] {
			return true
		}
	}
	return false
}
