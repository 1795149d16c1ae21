package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// Most phrases cannot match in most texts, because a required word is missing. One pass over the tokens finds these phrases, and
// only the others are tried at each token.
//
// A demand is an item of a phrase that is required and that only some tokens satisfy. A demand may be reported as met when it is
// not, but never the other way round, because a phrase that is skipped here is not tried again.

// demandSet is a set of demands. Demands beyond its size are dropped.
type demandSet [4]uint64

func (d *demandSet) add(n int) {
	if n < 64*len(d) {
		d[n/64] |= 1 << (n % 64)
	}
}

func (d *demandSet) addAll(more *demandSet) {
	for i := range d {
		d[i] |= more[i]
	}
}

// within reports whether met contains all of d.
func (d *demandSet) within(met *demandSet) bool {
	missing := uint64(0)
	for i := range d {
		missing |= d[i] &^ met[i]
	}
	return missing == 0
}

// demands holds the demands of a list of phrases, by the tokens that meet them.
type demands struct {
	byWord   map[string]*demandSet
	inside   []string // words of script without spaces, which match inside a token
	byQuoted demandSet
	numbers  map[string]int // number of each demand, by its words
}

// demandsOf numbers the demands of all phrases and sets the needs of each phrase.
func demandsOf(all []phrase) *demands {
	d := &demands{byWord: make(map[string]*demandSet), numbers: make(map[string]int)}
	for i := range all {
		for _, it := range all[i].items {
			if !it.optional {
				d.demand(&all[i].needs, it)
			}
		}
	}
	return d
}

// demand records the demand of one item.
func (d *demands) demand(needs *demandSet, it item) {
	words := it.words
	switch it.op {
	case opWord:
	case opKind:
		words = slices.Sorted(maps.Keys(kinds))
	case opParam:
		words = slices.Sorted(maps.Keys(params))
	case opForeign:
		words = append(slices.Sorted(maps.Keys(foreignKinds)), spacelessKinds...)
	case opQuoted:
		n := d.number("QUOTED")
		needs.add(n)
		d.byQuoted.add(n)
		return
	case opName, opNames, opIdent, opIdents, opAny, opColon, opHead, opEnd:
		return // too many tokens match
	}
	n := d.number(strings.Join(words, "|"))
	needs.add(n)
	for _, w := range words {
		if d.byWord[w] == nil {
			d.byWord[w] = new(demandSet)
			if startsSpaceless(w) {
				d.inside = append(d.inside, w)
			}
		}
		d.byWord[w].add(n)
	}
}

// number returns the number of a demand. Phrases with the same words share it.
func (d *demands) number(words string) int {
	n, ok := d.numbers[words]
	if !ok {
		n = len(d.numbers)
		d.numbers[words] = n
	}
	return n
}

// metBy returns the demands that at least one token meets.
func (d *demands) metBy(toks []token) demandSet {
	var met demandSet
	for i := range toks {
		t := &toks[i]
		if t.kind == kindQuoted {
			met.addAll(&d.byQuoted)
			continue
		}
		if more := d.byWord[t.low]; more != nil {
			met.addAll(more)
		}
		if isASCII(t.low) {
			continue
		}
		for _, w := range d.inside {
			if strings.Contains(t.low, w) {
				met.addAll(d.byWord[w])
			}
		}
	}
	return met
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// class-validator maps the name of each broken rule to its sentence, and nests issues under children: {"property": "n",
// "constraints": {"min": "n must not be less than 1"}, "children": []}.

// constrained reads the children of such an issue. It reports whether the issue itself has no other information.
func (r *reader) constrained(e wire.Value, steps []string) bool {
	children := e.Path("children")
	if children.Len() == 0 || !e.Path("property").Present() {
		return false
	}
	found := r.issueList(children, steps)
	return found && e.Path("constraints").Len() == 0
}

// constraintOf returns the first sentence of an issue's constraints and the name of its rule.
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

// reasons are the statuses of HTTP and its common extensions, with their reason phrases; other numbers need a clearer context. The
// table is a copy because a pure package does not import net/http.
var reasons = map[int]string{
	100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
	200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
	205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported",
	226: "IM Used",
	300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
	305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
	400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
	405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
	410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Payload Too Large", 414: "Request URI Too Long",
	415: "Unsupported Media Type", 416: "Requested Range Not Satisfiable", 417: "Expectation Failed", 418: "I'm a teapot",
	421: "Misdirected Request", 422: "Unprocessable Entity", 423: "Locked", 424: "Failed Dependency",
	425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
	431: "Request Header Fields Too Large",
	451: "Unavailable For Legal Reasons",
	499: "Client Closed Request",
	500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
	505: "HTTP Version Not Supported", 506: "Variant Also Negotiates", 507: "Insufficient Storage", 508: "Loop Detected",
	510: "Not Extended", 511: "Network Authentication Required",
	520: "Web Server Returned an Unknown Error", 521: "Web Server Is Down", 522: "Connection Timed Out", 523: "Origin Is Unreachable", 524: "A Timeout Occurred",
	529: "Overloaded",
}
