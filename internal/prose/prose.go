// Package prose measures how plainly comments are written, so that drift shows. It counts; it does not judge.
package prose

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Measure is one habit that is counted.
type Measure struct {
	Name    string
	pattern *regexp.Regexp
}

// Measures returns the habits, in the order of the table. The caller owns the slice.
func Measures() []Measure {
	return []Measure{
		{"nobody/somebody", regexp.MustCompile(`(?i)\b(nobody|somebody|whoever)\b`)},
		{"told/tells", regexp.MustCompile(`(?i)\b(told|tells)\b`)},
		{"What/Who/Of…", regexp.MustCompile(`(?:^|[.!?:]\s+)(What|Who|Of)\b`)},
		{"is no/is none", regexp.MustCompile(`(?i)\b(is|are|was|were) (no|none)\b`)},
		{"of its own", regexp.MustCompile(`(?i)\bof (its|their|our|your) own\b`)},
		{"pictures", regexp.MustCompile(`(?i)\b(room|rooms|door|veil|shelf|tongue|epitaph|afterlife|census|settle[sd]?|stumbles?)\b`)},
	}
}

// Count is what was found in the comments of some files.
type Count struct {
	Words int
	Hits  []int // as many as there are Measures
}

// Rate returns the hits of measure i per 1,000 words.
func (c *Count) Rate(i int) float64 {
	if c.Words == 0 {
		return 0
	}
	return 1000 * float64(c.Hits[i]) / float64(c.Words)
}

func (c *Count) add(o Count) {
	c.Words += o.Words
	for i, n := range o.Hits {
		c.Hits[i] += n
	}
}

// word is a run of letters; identifiers and numbers count, punctuation does not.
var word = regexp.MustCompile(`[\pL\pN_]+`)

// Text counts in one text.
func Text(s string) Count {
	s = strings.Join(strings.Fields(s), " ")
	c := Count{Words: len(word.FindAllStringIndex(s, -1))}
	for _, m := range Measures() {
		c.Hits = append(c.Hits, len(m.pattern.FindAllStringIndex(s, -1)))
	}
	return c
}

// Tree counts in the comments of all Go files below the root of a file system, by folder. It leaves out testdata, hidden folders and
// generated files.
func Tree(root fs.FS) (map[string]*Count, error) {
	found := map[string]*Count{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		return addFile(found, root, name)
	})
	return found, err
}

func addFile(found map[string]*Count, root fs.FS, name string) error {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("reading comments: %w", err)
	}
	if ast.IsGenerated(file) {
		return nil
	}
	folder := path.Dir(name)
	if found[folder] == nil {
		found[folder] = &Count{Hits: make([]int, len(Measures()))}
	}
	for _, group := range file.Comments {
		found[folder].add(Text(group.Text()))
	}
	return nil
}

// Sum adds counts up.
func Sum(counts map[string]*Count) Count {
	total := Count{Hits: make([]int, len(Measures()))}
	for _, c := range counts {
		total.add(*c)
	}
	return total
}

// Folders returns the folders in order.
func Folders(counts map[string]*Count) []string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
