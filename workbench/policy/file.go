package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/candor-mcp/candor/internal/near"
	"github.com/candor-mcp/candor/workbench/preflight"
)

// The bounds of a policy file.
const (
	maxFileBytes = 256 << 10
	maxNesting   = 64 // brackets on one line
	maxRules     = 500
	maxCommands  = 50
)

// file is a policy file as it is written.
type file struct {
	Rules []struct {
		ID         string   `yaml:"id"`
		Pattern    string   `yaml:"pattern"`
		Files      []string `yaml:"files"`
		Exempt     []string `yaml:"exempt"`
		Language   string   `yaml:"language"`
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
		Output  string   `yaml:"output"`
		Env     []string `yaml:"env"`
	} `yaml:"preflight"`
}

// keys are all of a policy file, to tell the neighbour of an unknown one.
var keys = []string{
	"rules", "builtin", "preflight", "id", "pattern", "files", "exempt", "language", "message", "suggestion", "name", "run", "timeout", "memory", "output", "env",
}

// Load reads the text of a policy file that has that name. The error is that of the first thing wrong and says where it stands,
// as FILE:LINE:COLUMN, and what would do. An empty file is [Default].
func Load(name string, data []byte) (*Policy, error) {
	l := &loader{name: name}
	if err := l.bounds(data); err != nil {
		return nil, err
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, l.syntax(err)
	}
	l.tree = tree
	var f file
	if err := yaml.NewDecoder(strings.NewReader(string(data)), yaml.Strict()).Decode(&f); err != nil && len(strings.TrimSpace(string(data))) > 0 {
		if text := strings.TrimSpace(stripComments(string(data))); text == "" {
			return Default(), nil
		}
		return nil, l.syntax(err)
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

func stripComments(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "#") })
	return strings.Join(lines, "\n")
}

// loader knows where things stand.
type loader struct {
	name string
	tree *ast.File
}

// bounds refuses what could cost too much before anything reads it.
func (l *loader) bounds(data []byte) error {
	if len(data) > maxFileBytes {
		return l.told(0, 0, "keep rules short", fmt.Sprintf("the file is larger than %d KiB", maxFileBytes>>10))
	}
	if strings.ContainsAny(string(data), "\x00") {
		return l.told(0, 0, "save it as UTF-8 text", "the file is no text")
	}
	depth := 0
	for i, line := range strings.Split(string(data), "\n") {
		depth = max(0, depth) + strings.Count(line, "[") + strings.Count(line, "{") - strings.Count(line, "]") - strings.Count(line, "}")
		if depth > maxNesting || strings.Count(line, "- - ") > maxNesting {
			return l.told(i+1, 1, "nothing in this file needs that", "too many brackets inside each other")
		}
	}
	return nil
}

// syntax tells what the reader of YAML does not take.
func (l *loader) syntax(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return l.told(0, 0, "it is a mapping with the keys rules, builtin and preflight", "the file cannot be read")
	}
	text, hint := y.GetMessage(), "check the indentation, and put quotes around patterns"
	if strings.Contains(text, "unknown field") {
		text, hint = fmt.Sprintf("there is no key %.60q here", y.GetToken().Value), "the keys are "+strings.Join(keys, ", ")
		if names := near.Names(y.GetToken().Value, keys); len(names) > 0 {
			hint = "did you mean " + near.Quote(names) + "?"
		}
	}
	return l.told(y.GetToken().Position.Line, y.GetToken().Position.Column, hint, text)
}

// wrong tells what is wrong with the value at a path.
func (l *loader) wrong(path, hint, format string, args ...any) error {
	line, column := 0, 0
	if p, err := yaml.PathString(path); err == nil {
		if n, err := p.FilterFile(l.tree); err == nil && n != nil && n.GetToken() != nil {
			line, column = n.GetToken().Position.Line, n.GetToken().Position.Column
		}
	}
	return l.told(line, column, hint, fmt.Sprintf(format, args...))
}

func (l *loader) told(line, column int, hint, text string) error {
	place := l.name
	if line > 0 {
		place = fmt.Sprintf("%s:%d:%d", l.name, line, column)
	}
	return fmt.Errorf("%s: %s (hint: %s)", place, text, hint)
}

func (l *loader) builtin(f *file, p *Policy) error {
	on := groupNames
	if f.Builtin != nil {
		on = *f.Builtin
	}
	for i, name := range on {
		rules, ok := groups[name]
		if !ok {
			return l.wrong(fmt.Sprintf("$.builtin[%d]", i), "one of "+strings.Join(groupNames, ", "), "there is no built-in group %.60q", name)
		}
		p.rules = append(p.rules, rules...)
	}
	return nil
}

var idForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

func (l *loader) rules(f *file, p *Policy) error {
	seen := map[string]bool{}
	for i, r := range f.Rules {
		at := fmt.Sprintf("$.rules[%d]", i)
		pattern, err := regexp.Compile(r.Pattern)
		switch {
		case !idForm.MatchString(r.ID):
			return l.wrong(at+".id", "capital letters, digits and _, such as NO_PRINT", "the rule has no id, or one that is no id")
		case seen[r.ID]:
			return l.wrong(at+".id", "give each rule its own", "the id %s stands there twice", r.ID)
		case r.Pattern == "" || err != nil:
			return l.wrong(at+".pattern", "a regular expression of RE2, in single quotes", "the rule %s has no pattern that can be read", r.ID)
		case r.Language != "" && r.Language != "rust":
			return l.wrong(at+".language", "rust, or leave it out", "the language %.60q is not known", r.Language)
		}
		if err := l.globs(at, map[string][]string{"files": r.Files, "exempt": r.Exempt}); err != nil {
			return err
		}
		seen[r.ID] = true
		message := r.Message
		if message == "" {
			message = "The line matches a pattern that is not allowed."
		}
		p.rules = append(p.rules, rule{id: r.ID, files: r.Files, exempt: r.Exempt, rust: r.Language == "rust", message: message, suggestion: r.Suggestion, find: linewise(pattern)})
	}
	return nil
}

func (l *loader) globs(at string, lists map[string][]string) error {
	for key, list := range lists {
		for i, glob := range list {
			if glob == "" || !doublestar.ValidatePattern(glob) {
				return l.wrong(fmt.Sprintf("%s.%s[%d]", at, key, i), `such as "src/**/*.go"`, "%.60q is no pattern of file names", glob)
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
		timeout, memory, output, err := l.limits(at, c.Timeout, c.Memory, c.Output)
		if err != nil {
			return err
		}
		p.commands = append(p.commands, command{
			Command: preflight.Command{Name: c.Name, Run: c.Run, Timeout: timeout, Memory: memory, Output: int(output), Env: c.Env}, files: c.Files,
		})
	}
	return nil
}

// limits reads those of a command; one that is not there is 0, for the default.
func (l *loader) limits(at, time1, memory, output string) (timeout time.Duration, mem, out int64, err error) {
	if time1 != "" {
		if timeout, err = time.ParseDuration(time1); err != nil || timeout <= 0 || timeout > time.Hour {
			return 0, 0, 0, l.wrong(at+".timeout", "such as 60s or 5m, at most 1h", "%.60q is no time limit", time1)
		}
	}
	if memory != "" {
		if mem = size(memory); mem < 16<<20 {
			return 0, 0, 0, l.wrong(at+".memory", "such as 512MiB or 2GiB, at least 16MiB", "%.60q is no limit of memory", memory)
		}
	}
	if output != "" {
		if out = size(output); out < 1<<10 || out > preflight.MaxOutput {
			return 0, 0, 0, l.wrong(at+".output", "such as 64KiB, at most 1MiB", "%.60q is no limit of output", output)
		}
	}
	return timeout, mem, out, nil
}

// size reads 64KiB, 512MiB or 2GiB; 0 is what it cannot read.
func size(text string) int64 {
	for unit, shift := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if digits, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseInt(digits, 10, 32)
			if err != nil || n < 1 || n > 1<<12 {
				return 0
			}
			return n << shift
		}
	}
	return 0
}
