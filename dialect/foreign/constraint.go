package foreign

import "github.com/candor-mcp/candor/wire"

// class-validator maps the name of each broken rule to its sentence, and nests under children:
// {"property": "n", "constraints": {"min": "n must not be less than 1"}, "children": []}.

// constrained reads the children of such an issue. It reports whether the issue itself says nothing more.
func (r *reader) constrained(e wire.Value, steps []string) bool {
	children := e.Path("children")
	if children.Len() == 0 || !e.Path("property").Present() {
		return false
	}
	found := r.issueList(children, steps)
	return found && e.Path("constraints").Len() == 0
}

// constraintOf is the first sentence of an issue's constraints, with the name of its rule.
func constraintOf(e wire.Value) (rule, message string) {
	for name, m := range e.Path("constraints").Members() {
		if s := str(m); s != "" {
			return constraintNames[str(name)], s
		}
	}
	return "", ""
}

var constraintNames = map[string]string{
	"isNotEmpty": "required", "isDefined": "required", "isString": "type", "isNumber": "type", "isInt": "type", "isBoolean": "type", "isArray": "type", "isObject": "type",
	"min": "minimum", "max": "maximum", "isPositive": "minimum", "isEnum": "enum", "isIn": "enum", "minLength": "minLength", "maxLength": "maxLength", "isLength": "minLength",
	"matches": "pattern", "isEmail": "format", "isUrl": "format", "isUuid": "format", "isDateString": "format", "isISO8601": "format", "whitelistValidation": "additionalProperties",
	"arrayMinSize": "minItems", "arrayMaxSize": "maxItems",
}
