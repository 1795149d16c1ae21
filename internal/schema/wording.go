package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// wording returns the rule that a finding breaks and one sentence about it. It is one table: a row for every kind of error the library
// knows.
func wording(f *finding) (rule, message string) {
	if f.isUnknownKey() {
		return RuleUnknownKey, "there is no key " + quoted(f.key) + " here"
	}
	switch k := f.what.(type) {
	case *kind.Type:
		return "type", "must be " + typeList(k.Want) + ", not " + withArticle(k.Got)
	case *kind.Required:
		return "required", "the key " + quoted(f.key) + " is missing"
	case *kind.Dependency:
		return "dependencies", "the key " + quoted(f.key) + " is required beside " + quoted(k.Prop)
	case *kind.DependentRequired:
		return "dependentRequired", "the key " + quoted(f.key) + " is required beside " + quoted(k.Prop)
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
		return "minContains", "must have at least " + count(k.Want, "item") + " of the form that is expected"
	case *kind.MaxContains:
		return "maxContains", "must have at most " + count(k.Want, "item") + " of the form that is expected"
	case *tooLarge:
		return RuleTooComplex, "does not fit the schema, and is too large to explain"
	case *kind.AdditionalItems:
		return "additionalItems", "has " + count(k.Count, "item") + " too many"
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
		return "minLength", "must have at least " + count(k.Want, "character")
	case *kind.MaxLength:
		return "maxLength", "must have at most " + count(k.Want, "character")
	case *kind.MinItems:
		return "minItems", "must have at least " + count(k.Want, "item")
	case *kind.MaxItems:
		return "maxItems", "must have at most " + count(k.Want, "item")
	case *kind.MinProperties:
		return "minProperties", "must have at least " + count(k.Want, "key")
	case *kind.MaxProperties:
		return "maxProperties", "must have at most " + count(k.Want, "key")
	default:
		return "schema", "does not fit the schema"
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// number writes a bound as the schema's author would.
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

// typeList names types, null last: it is rarely the one to choose.
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

// valueList writes values of the schema; what is long is left to the piece of the schema that stands beside it.
func valueList(want []any) string {
	const few, short = 8, 40
	if len(want) > few {
		return fmt.Sprintf("one of %d values", len(want))
	}
	words := make([]string, len(want))
	for i, v := range want {
		text, err := json.Marshal(v)
		if err != nil || len(text) > short {
			return "one of the values that are expected"
		}
		words[i] = string(text)
	}
	return orList(words)
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
