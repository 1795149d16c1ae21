package candortest

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/splice"
)

// violation is a call whose arguments violate the tool's schema in known fields.
type violation struct {
	Call
	fields []string // the invalid fields
}

// mayCall returns the tools that may be called with invalid arguments: those that the options name, with their valid
// arguments, and those marked readOnlyHint, with arguments made from the schema.
func (v *visit) mayCall() []Call {
	calls := slices.Clone(v.tour.o.Tools)
	for _, t := range v.facts.tools {
		if named := slices.ContainsFunc(calls, func(c Call) bool { return c.Tool == t.name }); t.readOnly && !named {
			calls = append(calls, Call{t.name, t.input.example()})
		}
	}
	return calls
}

// violations returns one call for each allowed tool that way can break. It returns only a few, because more would show the same.
func (v *visit) violations(way func(schema, Call) (violation, bool)) []violation {
	const enough = 3
	var out []violation
	for _, c := range v.mayCall() {
		t, listed := v.facts.tool(c.Tool)
		if !listed || len(out) == enough {
			continue
		}
		if broken, ok := way(t.input, c); ok {
			out = append(out, broken)
		}
	}
	return out
}

// withoutRequired removes a required argument.
func withoutRequired(s schema, c Call) (violation, bool) {
	for _, name := range s.required() {
		if args, err := splice.RemoveMember(nil, []byte(c.Arguments), []string{name}); err == nil {
			return violation{Call{c.Tool, string(args)}, []string{name}}, true
		}
	}
	return violation{}, false
}

// withWrongType sets an argument to a type that its schema does not allow.
func withWrongType(s schema, c Call) (violation, bool) {
	for _, name := range s.properties() {
		if value, ok := s.property(name).wrong(); ok {
			args, err := splice.SetMember(nil, []byte(c.Arguments), []string{name}, []byte(value))
			if err == nil {
				return violation{Call{c.Tool, string(args)}, []string{name}}, true
			}
		}
	}
	return violation{}, false
}

// unknownKey is an argument name that no tool has.
const unknownKey = "candortest_unknown"

// withUnknownKey adds an argument that the schema forbids.
func withUnknownKey(s schema, c Call) (violation, bool) {
	if !s.closed() {
		return violation{}, false
	}
	args, err := splice.SetMember(nil, []byte(c.Arguments), []string{unknownKey}, []byte(`1`))
	return violation{Call{c.Tool, string(args)}, []string{unknownKey}}, err == nil
}

// withSeveral violates two or more rules at once.
func withSeveral(s schema, c Call) (violation, bool) {
	several := violation{Call: c}
	for _, way := range []func(schema, Call) (violation, bool){withUnknownKey, withoutRequired} {
		if broken, ok := way(s, several.Call); ok {
			several = violation{broken.Call, append(several.fields, broken.fields...)}
		}
	}
	for _, name := range s.properties() {
		value, ok := s.property(name).wrong()
		if !ok || slices.Contains(several.fields, name) || len(several.fields) == 3 {
			continue
		}
		if args, err := splice.SetMember(nil, []byte(several.Arguments), []string{name}, []byte(value)); err == nil {
			several = violation{Call{c.Tool, string(args)}, append(several.fields, name)}
		}
	}
	return several, len(several.fields) > 1
}

// unnamed returns the fields that the answer does not mention.
func (b violation) unnamed(answer said) []string {
	text := spoken(answer)
	return slices.DeleteFunc(slices.Clone(b.fields), func(field string) bool { return strings.Contains(text, field) })
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
