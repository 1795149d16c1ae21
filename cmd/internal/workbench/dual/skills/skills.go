// Package skills reads the manifests of skills: procedures that an agent can follow with the tools of this server, step
// by step. A manifest is a YAML or JSON file; some are built in, and a directory may add others.
package skills

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Skill is a manifest.
type Skill struct {
	Name        string   `json:"name" yaml:"name"`
	Version     string   `json:"version" yaml:"version"`
	Description string   `json:"description" yaml:"description"`
	Tags        []string `json:"tags,omitempty" yaml:"tags"`
	Tools       []string `json:"tools,omitempty" yaml:"tools"` // used by the steps
	Steps       []string `json:"steps,omitempty" yaml:"steps"`
	Source      string   `json:"source" yaml:"-"` // "builtin", or the name of the file
}

// Unusable is a file that could not be read as a manifest.
type Unusable struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// Limits of a directory.
const (
	MaxUnusable = 20 // files that are listed; all are counted
	MaxFiles    = 500
	MaxBytes    = 64 << 10 // of one manifest
)

//go:embed builtin
var builtin embed.FS

// Read returns the built-in skills and those of a directory, sorted by name, and the files that cannot be used. A skill
// of the directory replaces the built-in skill with the same name. A nil folder is empty.
func Read(folder fs.FS) ([]Skill, []Unusable, error) {
	found := map[string]Skill{}
	own, err := fs.Sub(builtin, "builtin")
	if err != nil {
		return nil, nil, err
	}
	if _, err := readFolder(own, true, found); err != nil {
		return nil, nil, err
	}
	unusable := []Unusable{}
	if folder != nil {
		if unusable, err = readFolder(folder, false, found); err != nil {
			return nil, nil, err
		}
	}
	all := make([]Skill, 0, len(found))
	for _, s := range found {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return all, unusable, nil
}

func readFolder(folder fs.FS, own bool, found map[string]Skill) ([]Unusable, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	unusable := []Unusable{}
	files := 0
	for _, e := range entries {
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(e.Name()))) {
			continue
		}
		if files++; files > MaxFiles {
			return nil, fmt.Errorf("the folder of skills has more than %d files", MaxFiles)
		}
		s, err := readFile(folder, e)
		if err == nil && !own && found[s.Name].Source != "" && found[s.Name].Source != sourceBuiltin {
			err = fmt.Errorf("the name %s is taken by %s", s.Name, found[s.Name].Source)
		}
		if err != nil {
			unusable = append(unusable, Unusable{e.Name(), oneLine(err)})
			continue
		}
		if own {
			s.Source = sourceBuiltin
		}
		found[s.Name] = s
	}
	return unusable, nil
}

const sourceBuiltin = "builtin"

// oneLine returns the first line of an error; the other lines show the source of the file.
func oneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func readFile(folder fs.FS, e fs.DirEntry) (Skill, error) {
	name := e.Name()
	if !e.Type().IsRegular() { // opening a pipe blocks, and a link may point outside the directory
		return Skill{}, errors.New("is not a regular file")
	}
	file, err := folder.Open(name)
	if err != nil {
		return Skill{}, errors.New("cannot be opened")
	}
	defer file.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return Skill{}, errors.New("cannot be read")
	}
	if len(data) > MaxBytes {
		return Skill{}, fmt.Errorf("has more than %d bytes", MaxBytes)
	}
	s, err := Parse(data)
	s.Source = name
	return s, err
}

var namePattern = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}$`)

// Parse reads a manifest.
func Parse(data []byte) (Skill, error) {
	var s Skill
	if err := yaml.UnmarshalWithOptions(data, &s, yaml.Strict(), yaml.DisallowUnknownField()); err != nil {
		return s, err
	}
	switch {
	case !namePattern.MatchString(s.Name):
		return s, errors.New("name: want small letters, digits and -, at most 64")
	case strings.TrimSpace(s.Version) == "":
		return s, errors.New("version: missing")
	case strings.TrimSpace(s.Description) == "":
		return s, errors.New("description: missing")
	}
	return s, nil
}
