package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor/internal/plural"
)

// wording returns the rule that a finding breaks and a sentence about it, by the kinds of errors of the library.
func wording(f *finding) (rule, message string) {
	if f.isUnknownKey() {
		return RuleUnknownKey, "is not a known key"
	}
	switch k := f.what.(type) {
	case *kind.Type:
		return "type", "must be " + typeList(k.Want) + ", not " + withArticle(k.Got)
	case *kind.Required:
		return "required", "is missing"
	case *kind.Dependency:
		return "dependencies", "is required beside " + quoted(k.Prop)
	case *kind.DependentRequired:
		return "dependentRequired", "is required beside " + quoted(k.Prop)
	case *kind.PropertyNames:
		return "propertyNames", "the name " + quoted(f.key) + " is not allowed for a key here"
	case *kind.FalseSchema:
		return "false", "nothing is allowed here"
	case *kind.Enum:
		return "enum", "must be " + valueList(k.Want)
	case *kind.Const:
		return "const", "must be " + valueList([]any{k.Want})
	case *kind.Format:
		return "format", "must be a valid " + k.Want
	case *kind.Pattern:
		return "pattern", "must match the pattern " + k.Want
	case *kind.OneOf:
		return "oneOf", "fits more than one of the alternatives and must fit exactly one"
	case *kind.AnyOf:
		return "anyOf", "fits none of the alternatives"
	case *kind.Not:
		return "not", "is of a form that is not allowed"
	case *kind.UniqueItems:
		return "uniqueItems", fmt.Sprintf("items must differ; those at %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "contains", "must have an item of the form that is expected"
	case *kind.MinContains:
		return "minContains", "must have at least " + plural.Of(k.Want, "item") + " of the form that is expected"
	case *kind.MaxContains:
		return "maxContains", "must have at most " + plural.Of(k.Want, "item") + " of the form that is expected"
	case *tooLarge:
		return RuleTooComplex, "does not fit the schema, and is too large to explain"
	case *kind.AdditionalItems:
		return "additionalItems", "has " + plural.Of(k.Count, "item") + " too many"
	default:
		return bounds(f)
	}
}

// bounds is the part of [wording] that compares with a number.
func bounds(f *finding) (rule, message string) {
	switch k := f.what.(type) {
	case *kind.Minimum:
		return "minimum", "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "maximum", "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "exclusiveMinimum", "must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "exclusiveMaximum", "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "multipleOf", "must be a multiple of " + number(k.Want)
	case *kind.MinLength:
		return "minLength", "must have at least " + plural.Of(k.Want, "character")
	case *kind.MaxLength:
		return "maxLength", "must have at most " + plural.Of(k.Want, "character")
	case *kind.MinItems:
		return "minItems", "must have at least " + plural.Of(k.Want, "item")
	case *kind.MaxItems:
		return "maxItems", "must have at most " + plural.Of(k.Want, "item")
	case *kind.MinProperties:
		return "minProperties", "must have at least " + plural.Of(k.Want, "key")
	case *kind.MaxProperties:
		return "maxProperties", "must have at most " + plural.Of(k.Want, "key")
	default:
		return "schema", "does not fit the schema"
	}
}

// number formats a bound.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func withArticle(t string) string {
	switch t {
	case "null":
		return t
	case "array", "object", "integer":
		return "an " + t
	default:
		return "a " + t
	}
}

// typeList names types, with null last.
func typeList(want []string) string {
	var words []string
	for _, t := range want {
		if t != "null" {
			words = append(words, withArticle(t))
		}
	}
	if len(words) < len(want) {
		words = append(words, "null")
	}
	return orList(words)
}

// valueList lists values of the schema, as many as are readable; the issue also has the piece of the schema.
func valueList(want []any) string {
	const short, whole = 60, 400 // bytes of a value, and of all
	words, size := make([]string, 0, len(want)), 0
	for _, v := range want {
		text, err := json.Marshal(v)
		if err != nil || len(text) > short || size+len(text) > whole {
			break
		}
		words, size = append(words, string(text)), size+len(text)+len(", ")
	}
	switch rest := len(want) - len(words); {
	case rest == 0:
		return orList(words)
	case len(words) == 0:
		return fmt.Sprintf("one of %d values", len(want))
	default:
		return fmt.Sprintf("%s, … (%d more)", strings.Join(words, ", "), rest)
	}
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
