package config

import (
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/near"
)

// Problem is one thing that is wrong with a file, where it stands, and what to do about it. Place returns "candor.yaml:7:5"; String adds
// the text, the line itself with a mark below the place, and the hint.
type Problem = yamlfile.Problem

// Error is a file that cannot be used. It lists its problems in the order of the file, at most [MaxProblems].
type Error = yamlfile.Error

// MaxProblems limits how many problems of a file are reported at once.
const MaxProblems = yamlfile.MaxProblems

// Mistake is a value that cannot be used, before anybody knows where it stands: in a file or on a command line. It has a Text and a Hint.
type Mistake = yamlfile.Mistake

func mistake(hint, format string, args ...any) *Mistake {
	return yamlfile.NewMistake(hint, format, args...)
}

// unknown is the mistake for a word that is not in a list.
func unknown(kind, got string, list []string) *Mistake {
	return mistake(nearby(got, list), "unknown %s %s", kind, quote(got))
}

// nearby is the hint for a word that is not in a list: a similar word, or the list.
func nearby(got string, list []string) string {
	return near.Hint(got, list, "one of "+strings.Join(list, ", "))
}

// quote writes a word of the file for a sentence, bounded.
func quote(text string) string { return yamlfile.Quote(text) }
