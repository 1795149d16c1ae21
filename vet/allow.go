package vet

import (
	"go/ast"
	"go/token"
	"strings"
)

const allowPrefix = "//candor:allow"

// allowance allows violations of a rule on a line.
type allowance struct {
	line int
	rule string
}

// readAllowances collects the allow comments of a file. A comment without a rule or a reason allows nothing and is reported: a
// suppression without a reason cannot be reviewed.
func (v *vet) readAllowances(file *ast.File) map[allowance]bool {
	found := map[allowance]bool{}
	var code map[int]bool // the lines with code, computed for the first comment
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

// lineMeant returns the line to which a comment applies: its line, or the next line of code if it is on a separate line.
func (v *vet) lineMeant(file *ast.File, c *ast.Comment, code map[int]bool) int {
	line, last := v.line(c.Pos()), v.line(file.FileEnd)
	for line < last && !code[line] {
		line++
	}
	return line
}

// linesOfCode uses the syntax tree and not the source, because the file on disk may be older.
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

// allows reports whether violations of a rule are allowed on the line of any of the positions.
func (v *vet) allows(rule string, places ...token.Pos) bool {
	for _, at := range places {
		if v.allowed[allowance{v.line(at), rule}] {
			return true
		}
	}
	return false
}
