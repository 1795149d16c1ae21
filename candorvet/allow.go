package candorvet

import (
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
// suppression without a reason cannot be reviewed.
func (v *vet) readAllowances(file *ast.File) map[allowance]bool {
	found := map[allowance]bool{}
	var code map[int]bool // the lines with code, looked for when the first comment asks
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
			if code == nil {
				code = v.linesOfCode(file)
			}
			found[allowance{v.lineMeant(file, c, code), words[0]}] = true
		}
	}
	return found
}

// lineMeant is the comment's own line, or the next line of code below a comment that stands alone.
func (v *vet) lineMeant(file *ast.File, c *ast.Comment, code map[int]bool) int {
	line, last := v.line(c.Pos()), v.line(file.FileEnd)
	for line < last && !code[line] {
		line++
	}
	return line
}

// linesOfCode asks the syntax and not the source: what is on the disk may be older than what is analysed.
func (v *vet) linesOfCode(file *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.File:
			return true
		case *ast.CommentGroup:
			return false
		}
		lines[v.line(n.Pos())], lines[v.line(n.End()-1)] = true, true
		return true
	})
	return lines
}

func (v *vet) line(at token.Pos) int { return v.pass.Fset.Position(at).Line }

// allows reports whether a rule may be broken on the line of any of these places.
func (v *vet) allows(rule string, places ...token.Pos) bool {
	for _, at := range places {
		if v.allowed[allowance{v.line(at), rule}] {
			return true
		}
	}
	return false
}
