package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/similar"
)

// Limits of a policy file.
const (
	maxFileBytes = 256 << 10
	maxRules     = 500
	maxCommands  = 50
	minMemory    = 16 << 20
	maxMemory    = 4 << 40
)

var form = yamlfile.Form{MaxBytes: maxFileBytes, Large: "keep rules short", Quoted: "patterns"}

// file is the YAML form of a policy file.
type file struct {
	Rules []struct {
		ID         string   `yaml:"id"`
		Pattern    string   `yaml:"pattern"`
		Files      []string `yaml:"files"`
		Exempt     []string `yaml:"exempt"`
		Message    string   `yaml:"message"`
		Suggestion string   `yaml:"suggestion"`
	} `yaml:"rules"`
	Builtin   *[]string `yaml:"builtin"`
	Preflight []struct {
		Name    string   `yaml:"name"`
		Run     []string `yaml:"run"`
		Files   []string `yaml:"files"`
		Timeout string   `yaml:"timeout"`
		Memory  string   `yaml:"memory"`
		Env     []string `yaml:"env"`
	} `yaml:"preflight"`
}

// keys lists the keys of a policy file, to suggest one for an unknown key.
var keys = []string{
	"rules", "builtin", "preflight", "id", "pattern", "files", "exempt", "message", "suggestion", "name", "run", "timeout", "memory", "env",
}

// Load parses a policy file with the given name. The error is a [*yamlfile.Error] for the first mistake: it has the
// position as FILE:LINE:COLUMN, the line and a hint. An empty file yields [Default].
func Load(name string, data []byte) (*Policy, error) {
	l := &loader{report: yamlfile.NewReport(name, data)}
	root, ok := l.report.Parse(data, form)
	if !ok {
		return nil, l.report.Err()
	}
	if root == nil {
		return Default(), nil
	}
	l.root = root
	var f file
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&f); err != nil {
		return nil, l.form(err)
	}
	if len(f.Rules) > maxRules || len(f.Preflight) > maxCommands {
		return nil, l.wrong("$", "split it", "more than %d rules, or %d commands", maxRules, maxCommands)
	}
	p := &Policy{}
	for _, step := range []func(*file, *Policy) error{l.builtin, l.rules, l.commands} {
		if err := step(&f, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// loader decodes a policy file and reports the positions of mistakes.
type loader struct {
	report *yamlfile.Report
	root   ast.Node
}

// form reports YAML that is not a policy file.
func (l *loader) form(err error) error {
	t, text := yamlfile.Complaint(err)
	switch {
	case t == nil:
		l.report.Whole(yamlfile.NewMistake("it is a mapping with the keys rules, builtin and preflight", "the file cannot be read"))
	case strings.Contains(text, "unknown field"):
		l.report.At(t, yamlfile.NewMistake(similar.Hint(t.Value, keys, "the keys are "+strings.Join(keys, ", ")), "unknown key %s", yamlfile.Quote(t.Value)))
	default:
		l.report.Syntax(err, form)
	}
	return l.report.Err()
}

// wrong reports a mistake at a path, or for the whole file if the path has no value.
func (l *loader) wrong(path, hint, format string, args ...any) error {
	m := yamlfile.NewMistake(hint, format, args...)
	if p, err := yaml.PathString(path); err == nil {
		if n, err := p.FilterNode(l.root); err == nil && n != nil {
			l.report.At(n.GetToken(), m)
			return l.report.Err()
		}
	}
	l.report.Whole(m)
	return l.report.Err()
}

func (l *loader) builtin(f *file, p *Policy) error {
	on := groupNames
	if f.Builtin != nil {
		on = *f.Builtin
	}
	for i, name := range on {
		rules, ok := groups[name]
		if !ok {
			return l.wrong(fmt.Sprintf("$.builtin[%d]", i), "one of "+strings.Join(groupNames, ", "), "unknown built-in group %.60q", name)
		}
		p.rules = append(p.rules, rules...)
	}
	return nil
}

var idForm = lazyregexp.New(`^[A-Z][A-Z0-9_]{0,63}$`)

func (l *loader) rules(f *file, p *Policy) error {
	seen := map[string]bool{}
	for i, r := range f.Rules {
		at := fmt.Sprintf("$.rules[%d]", i)
		pattern, err := regexp.Compile(r.Pattern)
		switch {
		case !idForm.MatchString(r.ID):
			return l.wrong(at+".id", "capital letters, digits and _, such as NO_PRINT", "the id of the rule is missing or invalid")
		case seen[r.ID]:
			return l.wrong(at+".id", "give each rule its own", "duplicate id %s", r.ID)
		case r.Pattern == "" || err != nil:
			return l.wrong(at+".pattern", "a regular expression of RE2, in single quotes", "the rule %s has no pattern that can be read", r.ID)
		}
		if err := l.globs(at, map[string][]string{"files": r.Files, "exempt": r.Exempt}); err != nil {
			return err
		}
		seen[r.ID] = true
		message := r.Message
		if message == "" {
			message = "The line matches a pattern that is not allowed."
		}
		p.rules = append(p.rules, rule{id: r.ID, files: r.Files, exempt: r.Exempt, message: message, suggestion: r.Suggestion, find: linewise(pattern)})
	}
	return nil
}

func (l *loader) globs(at string, lists map[string][]string) error {
	for key, list := range lists {
		for i, glob := range list {
			if glob == "" || !doublestar.ValidatePattern(glob) {
				return l.wrong(fmt.Sprintf("%s.%s[%d]", at, key, i), `such as "src/**/*.go"`, "%.60q is not a file name pattern", glob)
			}
		}
	}
	return nil
}

func (l *loader) commands(f *file, p *Policy) error {
	for i, c := range f.Preflight {
		at := fmt.Sprintf("$.preflight[%d]", i)
		if c.Name == "" || len(c.Run) == 0 || c.Run[0] == "" {
			return l.wrong(at, "such as {name: tests, run: [go, test, ./...]}", "a command has a name and a command line to run")
		}
		if err := l.globs(at, map[string][]string{"files": c.Files}); err != nil {
			return err
		}
		timeout, err := time.ParseDuration(cmp.Or(c.Timeout, preflight.DefaultTimeout.String()))
		if err != nil || timeout <= 0 || timeout > time.Hour {
			return l.wrong(at+".timeout", "such as 60s or 5m, at most 1h", "%.60q is not a time limit", c.Timeout)
		}
		memory := int64(preflight.DefaultMemory)
		if c.Memory != "" {
			memory, err = yamlfile.Size(c.Memory)
		}
		if err != nil || memory < minMemory || memory > maxMemory {
			return l.wrong(at+".memory", "such as 512MiB or 2GiB, at least 16MiB", "%.60q is not a memory limit", c.Memory)
		}
		p.commands = append(p.commands, command{
			Command: preflight.Command{Name: c.Name, Run: c.Run, Timeout: timeout, Memory: memory, Env: c.Env}, files: c.Files,
		})
	}
	return nil
}
