package schema

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor/internal/similar"
	"github.com/candor-mcp/candor/wire"
)

// Lenient validation refuses a value only for fatal findings: those that no server can be expected to work around. Servers check less than
// their schemas say, convert types and ignore keys, so everything else is left to them.

// isFatal reports a missing required argument, an argument whose type cannot be converted to the wanted one without loss, and a
// misspelt key. In nested objects only a misspelling counts, because servers check least there.
func (s *Schema) isFatal(f *finding) bool {
	switch what := f.what.(type) {
	case *kind.Type:
		return f.options < 2 && s.isWrongType(f, what.Want)
	case *kind.Required:
		return s.isLacking(f)
	default:
		return f.isUnknownKey() && s.isMisspelling(f)
	}
}

// isLacking reports a missing key that a server needs.
func (s *Schema) isLacking(f *finding) bool {
	part := s.keySchema(s.parts[f.at], *f)
	if len(f.steps) > 1 {
		return slices.ContainsFunc(s.unknownKeys(f), func(given string) bool { return similar.Misspelt(given, f.key) })
	}
	return !mayBeAbsent(part) && (f.everywhere || s.requires(f.key))
}

// requires reports a key that the schema requires in every case.
func (s *Schema) requires(key string) bool {
	return slices.ContainsFunc(s.always, func(part *jsonschema.Schema) bool { return slices.Contains(part.Required, key) })
}

// needs is like requires, but false for keys that have a default or may be null.
func (s *Schema) needs(key string) bool {
	if !s.requires(key) {
		return false
	}
	for _, part := range s.always {
		if sub := part.Properties[key]; sub != nil && mayBeAbsent(sub) {
			return false
		}
	}
	return true
}

// hasDefault reports a missing key with a default.
func (s *Schema) hasDefault(f *finding) bool {
	if _, missing := f.what.(*kind.Required); !missing {
		return false
	}
	part := s.keySchema(s.parts[f.at], *f)
	return part != nil && slices.ContainsFunc(unconditional(part), func(p *jsonschema.Schema) bool { return p.Default != nil })
}

// mayBeAbsent reports an argument with a default, or one that may be null: generators of schemas list both as required.
func mayBeAbsent(part *jsonschema.Schema) bool {
	if part == nil {
		return false
	}
	for _, p := range unconditional(part) {
		if p.Default != nil || p.Types != nil && slices.Contains(p.Types.ToStrings(), "null") || p.Enum != nil && slices.Contains(p.Enum.Values, nil) {
			return true
		}
		for _, either := range [][]*jsonschema.Schema{p.AnyOf, p.OneOf} {
			if slices.ContainsFunc(either, func(sub *jsonschema.Schema) bool {
				return sub.Types != nil && slices.Contains(sub.Types.ToStrings(), "null")
			}) {
				return true
			}
		}
	}
	return false
}

// unconditional returns a schema with all that applies to the same value in every case.
func unconditional(part *jsonschema.Schema) []*jsonschema.Schema {
	return closure([]*jsonschema.Schema{part}, required)
}

// required returns the schemas that s applies to the same value in every case.
func required(s *jsonschema.Schema) []*jsonschema.Schema {
	if s.Ref == nil {
		return s.AllOf
	}
	return append([]*jsonschema.Schema{s.Ref}, s.AllOf...)
}

// isWrongType reports an argument, or all of them, of a type that cannot be converted to a wanted one without loss.
func (s *Schema) isWrongType(f *finding, want []string) bool {
	got, has := valueAt(f.value, f.steps)
	switch {
	case !has || len(f.steps) > 1:
		return false
	case len(f.steps) == 1:
		if got == nil || got == "" { // the usual ways to leave an argument out
			return s.needs(f.steps[0])
		}
		return !hasReading(want, got)
	case !slices.Contains(want, "object"):
		return false // the schema is of no use for arguments
	case got == nil || isEmptyList(got):
		return slices.ContainsFunc(s.always, func(part *jsonschema.Schema) bool { return slices.ContainsFunc(part.Required, s.needs) })
	default:
		return !hasReading(want, got)
	}
}

func isEmptyList(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 0
}

// hasReading reports whether a value can be read as one of the wanted types without loss, as servers do that convert types.
func hasReading(want []string, got any) bool {
	return slices.ContainsFunc(want, func(t string) bool { return readsAs(t, got) })
}

func readsAs(want string, got any) bool {
	switch got := got.(type) {
	case string:
		return textReadsAs(want, got)
	case json.Number:
		return want == "string" || want == "integer" || want == "number" || want == "boolean" && (got == "0" || got == "1")
	case bool:
		return want == "string" || want == "integer" || want == "number"
	case []any:
		return want == "object" && len(got) == 0
	case map[string]any:
		return want == "array" && len(got) == 0
	default:
		return false
	}
}

// booleans are the texts that common validators read as a boolean.
var booleans = []string{"true", "false", "1", "0", "yes", "no", "on", "off", "y", "n", "t", "f"}

func textReadsAs(want, text string) bool {
	text = strings.TrimSpace(text)
	switch want {
	case "integer", "number":
		_, err := strconv.ParseFloat(text, 64)
		return err == nil
	case "boolean":
		return slices.Contains(booleans, strings.ToLower(text))
	case "array":
		return strings.HasPrefix(text, "[") && json.Valid([]byte(text))
	case "object":
		return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
	case "null":
		return text == "null"
	default:
		return false
	}
}

// isMisspelling reports a key that the schema does not know, near one that it knows and that is missing, with a value that could be its.
func (s *Schema) isMisspelling(f *finding) bool {
	if f.options > 1 {
		return false
	}
	value, _ := valueAt(f.value, f.steps)
	for name, knower := range s.freeKeys(f) {
		part := resolved(knower.Properties[name])
		if !slices.Contains(knower.Required, name) && s.isUnused(knower.Properties[name]) {
			continue
		}
		if similar.Misspelt(f.key, name) && (part.Types == nil || slices.Contains(part.Types.ToStrings(), typeAt(f.value, f.steps)) || hasReading(part.Types.ToStrings(), value)) {
			return true
		}
	}
	return false
}

// unusedWords are in the descriptions of arguments that a server does not read: some clients could not call a tool without arguments.
var unusedWords = regexp.MustCompile(`(?i)\b(?:dummy|placeholder|unused|not used|no effect|(?:is|be|are) ignored)\b`)

// isUnused reports an argument whose description says that the server does not read it.
func (s *Schema) isUnused(part *jsonschema.Schema) bool {
	about, _ := s.piece(part.Location)["description"].(string)
	return unusedWords.MatchString(about)
}

// freeKeys returns the keys that an unknown one could be a misspelling of, with the schemas that define them.
func (s *Schema) freeKeys(f *finding) map[string]*jsonschema.Schema {
	holder := s.parts[f.at]
	_, unevaluated := f.what.(*kind.FalseSchema)
	if unevaluated {
		holder = s.parts[f.at[:strings.LastIndexByte(f.at, '/')]]
	}
	if holder == nil {
		return nil
	}
	knowers := []*jsonschema.Schema{holder} // additionalProperties applies to the properties of this schema only
	if unevaluated {
		knowers = together(knowers)
	}
	given := f.siblings()
	free := map[string]*jsonschema.Schema{}
	for _, part := range knowers {
		for name := range part.Properties {
			if _, taken := given[name]; !taken {
				free[name] = part
			}
		}
	}
	return free
}

// siblings returns the object that has the key of a finding, or lacks it.
func (f *finding) siblings() map[string]any {
	object, _ := valueAt(f.value, f.steps[:len(f.steps)-1])
	given, _ := object.(map[string]any)
	return given
}

// unknownKeys returns the keys given beside a missing one that no schema at that path describes, sorted.
func (s *Schema) unknownKeys(f *finding) []string {
	given := f.siblings()
	if len(given) == 0 {
		return nil
	}
	var unknown []string
	applying := s.schemasAt(f.steps[:len(f.steps)-1])
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if len(unknown) < maxCandidates && !slices.ContainsFunc(applying, func(part *jsonschema.Schema) bool { return describes(part, name) }) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// describes reports whether a schema has a rule for the member with that name.
func describes(part *jsonschema.Schema, name string) bool {
	if part.Properties[name] != nil {
		return true
	}
	if _, ok := part.AdditionalProperties.(*jsonschema.Schema); ok {
		return true
	}
	for re := range part.PatternProperties {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// Useless reports a schema that rejects all arguments, and so does not describe the tool.
func (s *Schema) Useless() bool { return s.useless }

func isUseless(always []*jsonschema.Schema) bool {
	return slices.ContainsFunc(always, func(part *jsonschema.Schema) bool {
		if part.Bool != nil && !*part.Bool || !typesOf(part).admits(wire.TypeObject) {
			return true
		}
		if not := part.Not; not != nil && not.Bool != nil && *not.Bool {
			return true
		}
		return slices.ContainsFunc(part.Required, func(key string) bool { return cannotBeGiven(part, key) })
	})
}

// cannotBeGiven reports a key that an object of this schema may not have.
func cannotBeGiven(part *jsonschema.Schema, key string) bool {
	if sub := part.Properties[key]; sub != nil {
		return sub.Bool != nil && !*sub.Bool
	}
	return part.AdditionalProperties == false && len(part.PatternProperties) == 0
}
