package workspace

import (
	"context"
	"errors"
)

// Query says what to search for.
type Query struct {
	Pattern    string // RE2, matched line by line
	Literal    bool   // Pattern is a text, not an expression
	Glob       string // which files, such as **/*.go; empty is all
	In         Path   // below which folder; the zero Path is the whole workspace
	MaxMatches int    // 0 is 100, at most 1000
}

// Match is one line that matches.
type Match struct {
	Path Path
	Line int    // from 1
	Text string // without control characters, at most 256 bytes
}

// Matches is what a search found.
type Matches struct {
	Found   []Match
	Files   int    // files searched
	Skipped int    // files left out: binary, too large, or not readable
	Stopped string // why it ended early ("matches", "files", "bytes", "time"), or empty
}

// Search searches the files of the workspace line by line.
func (f *Folder) Search(ctx context.Context, q Query) (Matches, error) {
	return Matches{}, errors.ErrUnsupported
}
