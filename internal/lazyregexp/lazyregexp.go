// Package lazyregexp compiles package-level regular expressions on first use, as the package of the same name in the standard library does.
// The command has dozens of them, and most runs need few.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a [regexp.Regexp] that is compiled when a method is called for the first time. It is safe for concurrent use.
type Regexp struct {
	pattern string
	once    sync.Once
	re      *regexp.Regexp
}

// inTest reports a test binary that was started by go test, not by a test that uses it as a server. In it a wrong pattern panics at once,
// whether or not a test uses it.
var inTest = len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.")

// New returns the expression. A wrong pattern panics on first use, and in a test binary immediately.
func New(pattern string) *Regexp {
	r := &Regexp{pattern: pattern}
	if inTest {
		r.Get()
	}
	return r
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.re = regexp.MustCompile(r.pattern) })
	return r.re
}

// MatchString calls [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool { return r.Get().MatchString(s) }

// FindStringSubmatch calls [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string { return r.Get().FindStringSubmatch(s) }

// ReplaceAllString calls [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(s, with string) string { return r.Get().ReplaceAllString(s, with) }

// Match calls [regexp.Regexp.Match].
func (r *Regexp) Match(b []byte) bool { return r.Get().Match(b) }
