// Package workflow reads workflow files: procedures of many steps that a coding agent follows one step at a time.
//
// A file is YAML or JSON. [Parse] is strict: a key that it does not know, a loop without a limit or a condition that
// compares nothing is an error, and every problem has a line, a column and a hint.
// [Schema] is a JSON Schema of the file for editors.
//
// A [Workflow] has one canonical text, [Workflow.JSON], which does not depend on how the file was formatted. It can be
// stored and parsed again, and its digest, [Workflow.Hash], pins a run to the workflow that it was started with.
//
// The package only reads bytes; package run walks through the steps.
package workflow

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Examples has the built-in workflows, in the folder examples.
//
//go:embed examples/*.yaml
var Examples embed.FS

// Schema is the JSON Schema (draft 2020-12) of a workflow file, for editors. It cannot express everything that [Parse]
// checks, such as unique step IDs, but every file that Parse accepts is valid.
//
//go:embed workflow.schema.json
var Schema []byte

// Workflow is a procedure: steps in their order, and what they need.
//
// The JSON form of the types in this package is the file format. A Workflow from [Parse] must not be changed.
type Workflow struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	Description  string       `json:"description,omitempty"`
	Guidance     []string     `json:"guidance,omitempty"` // advice that holds for every step
	Capabilities []Capability `json:"capabilities,omitempty"`
	Context      []ContextKey `json:"context,omitempty"`
	Steps        []Step       `json:"steps"`
}

// Capability is something the agent's environment may or may not offer, such as a shell or access to the web.
type Capability struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"` // a run cannot start without it
}

// ContextKey declares a key of the context, the JSON object that a run carries from step to step.
type ContextKey struct {
	Key         string `json:"key"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"` // must be set when a run starts; other keys are set along the way
	Type        string `json:"type,omitempty"`     // of its values, a type of JSON Schema; "" accepts any
}

// Step is one thing to do, or a loop of steps. A step with a Loop has only ID, Title, Requires and When beside it.
type Step struct {
	ID           string     `json:"id"` // unique in the workflow
	Title        string     `json:"title,omitempty"`
	Prompt       string     `json:"prompt,omitempty"` // may contain {{key}}, which is replaced by a value of the context
	Guidance     []string   `json:"guidance,omitempty"`
	Requires     []string   `json:"requires,omitempty"` // keys that must be set before the step begins
	When         *Condition `json:"when,omitempty"`     // the step is skipped unless it holds
	Notes        Notes      `json:"notes,omitempty"`
	Output       *Output    `json:"output,omitempty"`
	Capabilities []string   `json:"capabilities,omitempty"` // names declared by the workflow
	AskUser      *Question  `json:"askUser,omitempty"`
	Loop         *Loop      `json:"loop,omitempty"`
}

// Label returns the title of the step, or its ID if it has no title.
func (s *Step) Label() string {
	if s.Title != "" {
		return s.Title
	}
	return s.ID
}

// Notes specifies whether a step is completed with notes on the work done.
type Notes string

// The values of [Notes]. The default is required.
const (
	NotesRequired Notes = "required"
	NotesOptional Notes = "optional"
	NotesNone     Notes = "none"
)

// Output is a JSON value that a step must produce.
type Output struct {
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema, in canonical form; nil accepts any value
	Optional    bool            `json:"optional,omitempty"`
}

// Question is a question that only a person can answer. The step waits until a person has answered; an agent cannot set
// the key.
type Question struct {
	Question string `json:"question"`
	Key      string `json:"key"` // context key of the answer
}

// PersonKeys returns the context keys of the answers of people.
func (w *Workflow) PersonKeys() (keys []string) {
	for s := range w.All {
		if s.AskUser != nil {
			keys = append(keys, s.AskUser.Key)
		}
	}
	return keys
}

// WrongTypes returns the keys of a context with values of another type than the workflow declares, each with the
// declared type. null removes a key and fits every type.
func (w *Workflow) WrongTypes(context map[string]any) map[string]string {
	wrong := map[string]string{}
	for _, k := range w.Context {
		v := context[k.Key]
		got := jsontext.TypeName(v)
		_, whole := jsontext.Int(v)
		if v != nil && k.Type != "" && got != k.Type && (k.Type != "integer" || !whole) {
			wrong[k.Key] = k.Type
		}
	}
	return wrong
}

// All calls yield for every step of the workflow, those in loops included, in the order of the file. It stops when
// yield returns false. Its type is [iter.Seq], so that it can be ranged over.
func (w *Workflow) All(yield func(*Step) bool) { walk(w.Steps, yield) }

func walk(steps []Step, yield func(*Step) bool) bool {
	for i := range steps {
		s := &steps[i]
		if !yield(s) || s.Loop != nil && !walk(s.Loop.Steps, yield) {
			return false
		}
	}
	return true
}

// Loop repeats steps. It has one of While, Until, Times and Each.
type Loop struct {
	While         *Condition `json:"while,omitempty"` // checked before each iteration
	Until         *Condition `json:"until,omitempty"` // checked after each iteration
	Times         *Count     `json:"times,omitempty"`
	Each          string     `json:"each,omitempty"`  // the key of a list
	As            string     `json:"as,omitempty"`    // the name under which the steps see the current item of Each
	Index         string     `json:"index,omitempty"` // the name under which they see the number of the iteration, from 1
	MaxIterations int        `json:"maxIterations"`
	OnLimit       OnLimit    `json:"onLimit,omitempty"`
	Steps         []Step     `json:"steps"`
}

// Kind returns the key that decides how often the loop repeats: while, until, times or each.
func (l *Loop) Kind() string {
	switch {
	case l.While != nil:
		return "while"
	case l.Until != nil:
		return "until"
	case l.Times != nil:
		return "times"
	default:
		return "each"
	}
}

// OnLimit is the behaviour of a loop that has used up its MaxIterations and would continue.
type OnLimit string

// The values of [OnLimit]. The default is fail.
const (
	LimitFails  OnLimit = "fail"  // the run cannot continue
	LimitLeaves OnLimit = "leave" // the run continues with the step after the loop
)

// Count is a number of times: N, or the value of a context key if Key is not empty.
type Count struct {
	N   int
	Key string
}

// MarshalJSON returns the number or the key.
func (c Count) MarshalJSON() ([]byte, error) {
	if c.Key != "" {
		return json.Marshal(c.Key)
	}
	return json.Marshal(c.N)
}

// UnmarshalJSON reads the number or the key.
func (c *Count) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &c.Key) == nil {
		return nil
	}
	return json.Unmarshal(text, &c.N)
}

// Condition is a comparison of one context key, or a combination of conditions.
type Condition struct {
	Op    Operator
	Key   string      // of a comparison
	Value any         // of a comparison: the JSON value to compare with
	Of    []Condition // of a combination; not has one

	pattern *regexp.Regexp // of a matches
}

// Operator is how a [Condition] compares or combines.
type Operator string

// The operators. A key that is missing or null counts as not set: exists is false, notEquals is true, and every other
// comparison is false. Values of different types are not equal; to compare the text "true" with true is an error.
const (
	OpEquals      Operator = "equals"
	OpNotEquals   Operator = "notEquals"
	OpIn          Operator = "in"          // equals one of a list
	OpGreaterThan Operator = "greaterThan" // numbers only, as the three below
	OpAtLeast     Operator = "atLeast"
	OpLessThan    Operator = "lessThan"
	OpAtMost      Operator = "atMost"
	OpContains    Operator = "contains" // a string contains a string, or a list an item
	OpMatches     Operator = "matches"  // a string matches a regular expression of package regexp
	OpExists      Operator = "exists"   // true or false

	OpAll Operator = "all"
	OpAny Operator = "any"
	OpNot Operator = "not"
)

// MarshalJSON returns the condition as a file has it, with the operator as a key.
func (c Condition) MarshalJSON() ([]byte, error) {
	switch c.Op {
	case OpAll, OpAny:
		return json.Marshal(map[Operator][]Condition{c.Op: c.Of})
	case OpNot:
		return json.Marshal(map[Operator]Condition{c.Op: c.Of[0]})
	default:
		return json.Marshal(map[string]any{"key": c.Key, string(c.Op): c.Value})
	}
}

// UnmarshalJSON reads a condition that fits the schema.
func (c *Condition) UnmarshalJSON(text []byte) error {
	var parts map[Operator]json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	for name, part := range parts {
		var err error
		switch name {
		case "key":
			err = json.Unmarshal(part, &c.Key)
		case OpAll, OpAny:
			err = json.Unmarshal(part, &c.Of)
		case OpNot:
			c.Of = make([]Condition, 1)
			err = json.Unmarshal(part, &c.Of[0])
		default:
			c.Value, err = decode(part)
		}
		if err != nil {
			return err
		}
		if name != "key" {
			c.Op = name
		}
	}
	return nil
}

// JSON returns the canonical text of the workflow, which does not depend on the formatting of its file. Defaults are
// written out. [Parse] reads the text back to an equal workflow.
func (w *Workflow) JSON() ([]byte, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	return jsontext.AppendCanonical(nil, v)
}

// Hash returns the SHA-256 of [Workflow.JSON] in hexadecimal, or "" if there is an error. Two files have the same hash
// if and only if they define the same workflow.
func (w *Workflow) Hash() string {
	text, err := w.JSON()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// placeholder is a context key between double braces.
var placeholder = lazyregexp.New(`\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)[ \t]*\}\}`)

// Expand replaces every {{key}} of a text with the value that the function returns for the key. Placeholders without a
// value are kept, and values are not expanded again.
func Expand(text string, value func(key string) (replacement string, ok bool)) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return placeholder.Get().ReplaceAllStringFunc(text, func(found string) string {
		if v, ok := value(strings.Trim(found, "{} \t")); ok {
			return v
		}
		return found
	})
}

// EvalError is the error for an invalid comparison, such as of a number with a list.
type EvalError struct {
	Key  string
	Op   Operator
	Want string // the required type, such as "a number"
	Got  string // its JSON type, or the problem with it
}

// Error returns a sentence that does not repeat the value.
func (e *EvalError) Error() string {
	return fmt.Sprintf("context key %q: %s needs %s, got %s", e.Key, e.Op, e.Want, e.Got)
}

// Eval reports whether the condition holds. lookup returns the value of a key; numbers are compared as
// [jsontext.Compare] does. The error is an [*EvalError]. Evaluation stops when the result is known: all stops at the
// first condition that does not hold, any at the first that does.
func (c *Condition) Eval(lookup func(key string) (any, bool)) (bool, error) {
	switch c.Op {
	case OpAll, OpAny:
		for i := range c.Of {
			if holds, err := c.Of[i].Eval(lookup); err != nil || holds == (c.Op == OpAny) {
				return holds && err == nil, err
			}
		}
		return c.Op == OpAll, nil
	case OpNot:
		holds, err := c.Of[0].Eval(lookup)
		return !holds && err == nil, err
	default:
		v, _ := lookup(c.Key)
		return c.compare(v)
	}
}

// compare compares the value of the key; nil is not set.
func (c *Condition) compare(v any) (bool, error) {
	switch {
	case c.Op == OpExists:
		return (v != nil) == (c.Value == true), nil
	case v == nil:
		return c.Op == OpNotEquals, nil
	}
	switch c.Op {
	case OpEquals, OpNotEquals:
		if isTextOf(v, c.Value) {
			return false, mismatch(c, v, article(jsontext.TypeName(c.Value)))
		}
		return jsontext.Equal(v, c.Value) == (c.Op == OpEquals), nil
	case OpIn:
		list, _ := c.Value.([]any)
		return slices.ContainsFunc(list, func(item any) bool { return jsontext.Equal(v, item) }), nil
	case OpContains:
		return c.contains(v)
	case OpMatches:
		text, ok := v.(string)
		if !ok {
			return false, mismatch(c, v, "a string")
		}
		return c.pattern.MatchString(text), nil
	default:
		return order(c, v)
	}
}

// isTextOf reports whether v is a text that spells a value that is not a text, such as "true" for true.
func isTextOf(v, value any) bool {
	text, ok := v.(string)
	if _, both := value.(string); !ok || both {
		return false
	}
	spelled, err := jsontext.AppendCanonical(nil, value)
	return err == nil && strings.EqualFold(strings.TrimSpace(text), string(spelled))
}

// String returns the condition in words, such as "tests equals true and found is set".
func (c *Condition) String() string {
	switch c.Op {
	case OpAll, OpAny:
		parts := make([]string, len(c.Of))
		for i := range c.Of {
			parts[i] = c.Of[i].String()
		}
		return "(" + strings.Join(parts, map[Operator]string{OpAll: " and ", OpAny: " or "}[c.Op]) + ")"
	case OpNot:
		return "not " + c.Of[0].String()
	case OpExists:
		return c.Key + map[bool]string{true: " is set", false: " is not set"}[c.Value == true]
	default:
		value, _ := json.Marshal(c.Value)
		return c.Key + " " + string(c.Op) + " " + string(value)
	}
}

func order(c *Condition, v any) (bool, error) {
	n, ok := jsontext.Compare(v, c.Value)
	if !ok {
		return false, mismatch(c, v, "a number")
	}
	switch c.Op {
	case OpGreaterThan:
		return n > 0, nil
	case OpAtLeast:
		return n >= 0, nil
	case OpLessThan:
		return n < 0, nil
	default:
		return n <= 0, nil
	}
}

func (c *Condition) contains(v any) (bool, error) {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return jsontext.Equal(item, c.Value) }), nil
	case string:
		part, ok := c.Value.(string)
		if !ok {
			return false, mismatch(c, v, "a list")
		}
		return strings.Contains(v, part), nil
	default:
		return false, mismatch(c, v, "a string or a list")
	}
}

func mismatch(c *Condition, v any, want string) error {
	return &EvalError{Key: c.Key, Op: c.Op, Want: want, Got: article(jsontext.TypeName(v))}
}

func article(typeName string) string {
	switch typeName {
	case "null":
		return typeName
	case "array", "object":
		return "an " + typeName
	default:
		return "a " + typeName
	}
}
