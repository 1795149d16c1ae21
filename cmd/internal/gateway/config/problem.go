package config

import (
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/near"
)

// Problem is one error in a file, with its position and a hint. Place returns "candor.yaml:7:5"; String adds the text, the line
// with a mark below the position, and the hint.
type Problem = yamlfile.Problem

// Error is the error for an invalid file. It lists at most [MaxProblems] problems in the order of the file.
type Error = yamlfile.Error

// MaxProblems bounds the problems of a file that are reported together.
const MaxProblems = yamlfile.MaxProblems

// Mistake is the error for an invalid value without its position, which may be in a file or on a command line. It has a Text and
// a Hint.
type Mistake = yamlfile.Mistake

func mistake(hint, format string, args ...any) *Mistake {
	return yamlfile.NewMistake(hint, format, args...)
}

// unknown returns the mistake for a word that is not in a list.
func unknown(kind, got string, list []string) *Mistake {
	return mistake(nearby(got, list), "unknown %s %s", kind, quote(got))
}

// nearby returns the hint for a word that is not in a list: a similar word, or the list.
func nearby(got string, list []string) string {
	return near.Hint(got, list, "one of "+strings.Join(list, ", "))
}

// quote returns a word of the file quoted for a message, with bounded length.
func quote(text string) string { return yamlfile.Quote(text) }
