package candortest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonschema "github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

var argumentChecks = []check{
	{Rule: Rule{ID: "arguments-type", Level: protocol, Needs: needsTool,
		Title: "Arguments that are not an object are refused.",
		Why:   "A handler that is entered with a string where an object belongs breaks in its own way, or does something that was not asked for.",
		Fix:   "Check the type of arguments before the tool is entered."},
		run: argumentsType},
	{Rule: Rule{ID: "missing-required", Level: protocol, Needs: needsTool, Title: "A call without a required argument is refused."},
		same: "EC023", run: refuses(withoutRequired, "no tool has a required argument")},
	{Rule: Rule{ID: "wrong-type", Level: protocol, Needs: needsTool, Title: "A call with an argument of the wrong type is refused."},
		same: "EC023", run: refuses(withWrongType, "no tool declares the type of an argument")},
	{Rule: Rule{ID: "unknown-argument", Level: protocol, Needs: needsTool, Title: "A call with an argument that the schema forbids is refused."},
		same: "EC023", run: refuses(withUnknownKey, "no tool has additionalProperties false")},
	{Rule: Rule{ID: "violation-channel", Level: protocol, Needs: needsTool,
		Title: "Arguments that break the schema are reported in a result with isError, not as a protocol error (SEP-1303)."},
		same: "EC004", since: "2025-11-25", run: eachRefused(withoutRequired, func(_ violation, a said) string {
			if !a.isError() {
				return "the call was refused with a protocol error"
			}
			return ""
		})},
	{Rule: Rule{ID: "violation-names-field", Level: manners, Needs: needsTool, Title: "The refusal of wrong arguments names the argument."},
		same: "EC015", run: eachRefused(withWrongType, violation.unnamed)},
	{Rule: Rule{ID: "all-violations", Level: manners, Needs: needsTool, Title: "The refusal of several wrong arguments names all of them."},
		same: "EC033", run: eachRefused(withSeveral, violation.unnamed)},
}

func argumentsType(v *visit, c *client) error {
	calls := v.mayCall()
	if len(calls) == 0 {
		return skip("it needs " + needsTool)
	}
	for _, args := range []string{`"hello"`, `5`, `["hello"]`} {
		answer, err := c.call(v.ctx, "tools/call", Call{calls[0].Tool, args}.params())
		switch {
		case err != nil:
			err = fmt.Errorf("the call was not answered: %w", err)
		case answer.rejection():
			err = fmt.Errorf("a request was refused with HTTP %d and no JSON-RPC error", answer.Status)
		case !answer.failed():
			err = errors.New("the call was carried out")
		case answer.msg.Shape() == wire.KindError:
			err = wrongCode(answer, refusedParams)
		}
		if err == nil {
			err = c.survives(v.ctx)
		}
		if err != nil {
			return fmt.Errorf("arguments %s: %w", args, err)
		}
	}
	return nil
}

// refuses returns a check that the server refuses the calls that way breaks.
func refuses(way way, lack string) func(*visit, *client) error {
	return func(v *visit, c *client) error {
		broken := v.violations(way)
		if len(broken) == 0 {
			return skip("it needs " + needsTool + ": " + lack)
		}
		for _, b := range broken {
			answer, err := c.call(v.ctx, "tools/call", b.params())
			if err != nil {
				return fmt.Errorf("%s: the call was not answered: %w", b.Tool, err)
			}
			if !answer.failed() && !answer.rejection() {
				return fmt.Errorf("%s: the call was carried out", b.Tool)
			}
		}
		return nil
	}
}

// eachRefused returns a check that judges the answers to broken calls that the server refuses. Calls that it accepts are
// covered by another check.
func eachRefused(way way, judge func(violation, said) string) func(*visit, *client) error {
	return func(v *visit, c *client) error {
		judged := false
		for _, b := range v.violations(way) {
			var err error
			if c, err = v.again(c); err != nil {
				return err
			}
			answer, err := c.call(v.ctx, "tools/call", b.params())
			if err != nil {
				c = nil
				continue
			}
			if !answer.failed() {
				continue
			}
			judged = true
			if problem := judge(b, answer); problem != "" {
				return fmt.Errorf("%s: %s", b.Tool, problem)
			}
		}
		if !judged {
			return skip("no call with such arguments was refused; it needs " + needsTool)
		}
		return nil
	}
}

// schema has the keywords of a JSON Schema that the kit violates on purpose.
type schema struct {
	Properties           map[string]schema
	Required             []string
	Type                 any // a name, or a list of names
	AdditionalProperties any
}

func readSchema(raw []byte) (s schema) {
	_ = json.Unmarshal(raw, &s) // keywords of another type are not violated
	return s
}

// wrong returns a value of a type that the schema does not allow and no lenient decoder converts.
func (s schema) wrong() (string, bool) {
	types, isList := s.Type.([]any)
	if !isList {
		types = []any{s.Type}
	}
	switch {
	case s.Type == nil || len(types) == 0:
		return "", false
	case !slices.Contains(types, any("string")):
		return `"candortest"`, true
	default:
		return `{"candortest":true}`, !slices.Contains(types, any("object"))
	}
}

// example returns arguments that probably match. A schema that cannot be compiled gets none.
func example(raw []byte) string {
	if full, err := jsonschema.Compile(raw); err == nil {
		if made := full.Explain([]byte(`{}`)).Template; !made.IsZero() {
			return made.String()
		}
	}
	return `{}`
}

// violation is a call whose arguments violate the tool's schema in known fields.
type violation struct {
	Call
	fields []string // the invalid fields
}

// way breaks arguments, and returns the names of those that are invalid afterwards.
type way func(s schema, args map[string]json.RawMessage) []string

// mayCall returns the tools that may be called with invalid arguments: those that the options name, with their valid
// arguments, and those marked readOnlyHint, with arguments made from the schema.
func (v *visit) mayCall() []Call {
	calls := slices.Clone(v.tour.o.Tools)
	for _, t := range v.facts.tools {
		if named := slices.ContainsFunc(calls, func(c Call) bool { return c.Tool == t.name }); t.readOnly && !named {
			calls = append(calls, Call{t.name, example(t.input)})
		}
	}
	return calls
}

// violations returns one call for each allowed tool that way can break. It returns only a few, because more would show the same.
func (v *visit) violations(way way) []violation {
	const enough = 3
	var out []violation
	for _, c := range v.mayCall() {
		t, listed := v.facts.tool(c.Tool)
		if !listed || len(out) == enough {
			continue
		}
		args := map[string]json.RawMessage{}
		_ = json.Unmarshal([]byte(c.Arguments), &args) // it is an object
		if fields := way(readSchema(t.input), args); len(fields) > 0 {
			raw, _ := json.Marshal(args) // it was JSON
			out = append(out, violation{Call{c.Tool, string(raw)}, fields})
		}
	}
	return out
}

// withoutRequired removes a required argument.
func withoutRequired(s schema, args map[string]json.RawMessage) []string {
	for _, name := range s.Required {
		if _, ok := args[name]; ok {
			delete(args, name)
			return []string{name}
		}
	}
	return nil
}

// withWrongType sets an argument to a type that its schema does not allow.
func withWrongType(s schema, args map[string]json.RawMessage) []string {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if value, ok := s.Properties[name].wrong(); ok {
			args[name] = json.RawMessage(value)
			return []string{name}
		}
	}
	return nil
}

// withUnknownKey adds an argument that the schema forbids.
func withUnknownKey(s schema, args map[string]json.RawMessage) []string {
	if s.AdditionalProperties != false {
		return nil
	}
	const name = "candortest_unknown" // no tool has it
	args[name] = json.RawMessage(`1`)
	return []string{name}
}

// withSeveral violates two or more rules at once.
func withSeveral(s schema, args map[string]json.RawMessage) []string {
	fields := append(withUnknownKey(s, args), withoutRequired(s, args)...)
	rest := maps.Clone(s.Properties)
	for _, field := range fields {
		delete(rest, field)
	}
	for len(fields) < 3 {
		more := withWrongType(schema{Properties: rest}, args)
		if more == nil {
			break
		}
		delete(rest, more[0])
		fields = append(fields, more...)
	}
	if len(fields) < 2 {
		return nil
	}
	return fields
}

// unnamed returns a problem if the answer does not mention all the fields.
func (b violation) unnamed(answer said) string {
	text := spoken(answer)
	missing := slices.DeleteFunc(slices.Clone(b.fields), func(field string) bool { return strings.Contains(text, field) })
	if len(missing) == 0 {
		return ""
	}
	return "the text does not name the arguments " + strings.Join(missing, ", ")
}

// spoken returns the text of a failure that a model may read: the error's message, or the text of every block.
func spoken(answer said) string {
	if message, ok := answer.msg.Error().Path("message").Str(); ok {
		return message
	}
	var texts []string
	for block := range answer.msg.Result().Path("content").Elements() {
		if text, ok := block.Path("text").Str(); ok {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}
