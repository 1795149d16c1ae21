package catalogue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Release is one line of spec/released.txt: the guarantees of a release for one code. They hold for ever, so a code is never
// renumbered, renamed, removed, or given another class or kind of retry advice.
type Release struct {
	Since  string
	Number int
	ID     string // domain/SYMBOL
	Class  string
	Retry  string // the kind; the delay may change

	Line int // line number in the file
}

// LoadReleased reads the released codes. A missing file means that nothing has been released yet.
func LoadReleased(path string) ([]Release, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the released codes: %w", err)
	}
	released, err := ParseReleased(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return released, nil
}

// ParseReleased reads lines of five fields. It skips empty lines and lines that begin with #.
func ParseReleased(text string) ([]Release, error) {
	var out []Release
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 5 {
			return nil, fmt.Errorf("line %d: %d fields, want version, number, domain/SYMBOL, class and retry", i+1, len(fields))
		}
		number, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not a number", i+1, fields[1])
		}
		out = append(out, Release{Since: fields[0], Number: number, ID: fields[2], Class: fields[3], Retry: fields[4], Line: i + 1})
	}
	return out, nil
}

const releasedHead = `# What releases have promised: version, number, domain/SYMBOL, class, kind of retry advice.
# Lines are only ever added. A code listed here is never renumbered, renamed or removed; it may be
# deprecated in favour of another. "go run ./internal/catalogue/gen -release" adds what has become active.
`

// FormatReleased writes the released codes in the form that [ParseReleased] reads, after adding each code of c that is not
// reserved and not yet released.
func FormatReleased(c *Catalogue, released []Release) string {
	known := map[string]bool{}
	for _, r := range released {
		known[r.ID] = true
	}
	for _, code := range c.Codes {
		if code.Status != StatusReserved && !known[code.ID()] {
			released = append(released, Release{Since: code.Since, Number: code.Number, ID: code.ID(), Class: code.Class, Retry: code.Retry})
		}
	}
	var b strings.Builder
	b.WriteString(releasedHead)
	for _, r := range released {
		fmt.Fprintf(&b, "%s %d %s %s %s\n", r.Since, r.Number, r.ID, r.Class, r.Retry)
	}
	return b.String()
}

// released checks that the catalogue keeps the guarantees for all released codes.
func (k *checker) released(released []Release) {
	for _, r := range released {
		c := k.c.Find(r.ID)
		if c == nil {
			k.faults = append(k.faults, fmt.Errorf("released line %d: %s %d is missing; a released code is never renamed or removed", r.Line, r.ID, r.Number))
			continue
		}
		k.unless(c.Number == r.Number, c, "was released as number %d and cannot become %d", r.Number, c.Number)
		k.unless(c.Class == r.Class, c, "was released as class %s and cannot become %s", r.Class, c.Class)
		k.unless(c.Retry == r.Retry, c, "was released as %s and cannot become %s", r.Retry, c.Retry)
		k.unless(c.Since == r.Since, c, "was released in %s, not in %s", r.Since, c.Since)
		k.unless(c.Status != StatusReserved, c, "was released and cannot be reserved again")
	}
}
