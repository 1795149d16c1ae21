package foreign

import (
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/wire"
)

// speakers are the members that hold the sentence for people, the best first.
var speakers = []string{"message", "errormessage", "humanmessage", "errmsg", "faultstring", "msg", "usermessage", "displaymessage", "errordescription", "errordetail", "error", "err", "errorcontent", "detail",
	"reason", "errorreason", "description", "details", "title", "summary", "statustext", "stderr", "text", "cause", "data", "body", "response", "reply", "exception", "content", "output", "result"}

// sentence reads the members that hold text and returns the best of them.
func (r *reader) sentence(v wire.Value) string {
	found := make(map[string]string)
	for name, m := range v.Members() {
		if key := fold(clip(str(name), maxPath)); m.Type() == wire.TypeString && found[key] == "" && len(found) < 64 {
			found[key] = str(m)
		}
	}
	best, slug := "", ""
	if m := v.Path("message"); m.Type() == wire.TypeArray { // class-validator: one sentence per field
		best = r.value(m)
	}
	for rank, key := range speakers {
		text := strings.TrimSpace(found[key])
		switch {
		case text == "", !strings.ContainsFunc(text, unicode.IsLetter), rank > 9 && best != "" && !strings.ContainsAny(text, " {<"):
		case isSlug(text) || verdicts[text]:
			slug = firstOf(slug, text)
		default:
			said := r.text(text)
			best = firstOf(best, said)
		}
	}
	if best == "" && slug != "" && !verdicts[slug] {
		return slug
	}
	return best
}

// containers are the members that may hold a failure inside.
var containers = set("error", "errors", "err", "data", "details", "detail", "result", "results", "response", "body", "cause", "reason", "fault", "payload", "extensions", "recovery", "innererror", "originalerror", "meta",
	"errordata", "info", "additionalinfo", "headers", "responseheaders", "output", "errorinfo", "exception", "metadata", "retryinfo", "toolresult", "content", "structuredcontent", "failure", "context",
	"ratelimit", "limits", "graphqlerrors", "description", "baseresp", "err_", "responsemetadata", "json", "notes", "diagnostics", "@error", "failures", "validation", "$metadata", "$response", "httpheaders", "httpresponse")

// deeper reads what lies inside a member.
func (r *reader) deeper(key string, v wire.Value) string {
	if !containers[key] || v.Type() != wire.TypeObject && v.Type() != wire.TypeArray {
		return ""
	}
	if key == "toolresult" {
		r.shape(ShapeLegacyResult)
	}
	return r.value(v)
}

// maxElements bounds how many elements of an array are read.
const maxElements = 32

// array reads a list: issues, content blocks, rejected promises, sentences.
func (r *reader) array(v wire.Value) string {
	if r.issueList(v, nil) {
		return ""
	}
	var texts []string
	n := 0
	for e := range v.Elements() {
		if n++; n > maxElements {
			break
		}
		if e.Type() == wire.TypeObject {
			r.shape(elementShape(e))
		}
		if t := r.value(e); t != "" && len(texts) < 8 && !contains(texts, t) {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "; ")
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func elementShape(e wire.Value) string {
	switch kind := e.Path("type"); {
	case e.Path("status").Is("rejected"):
		return ShapeRejected
	case kind.Is("error"):
		return ShapeErrorBlock
	case kind.Is("text"), kind.Is("resource"), kind.Is("image"):
		return ShapeContent
	case e.Path("error").Present():
		return ShapeErrorItems
	}
	return variantOf(e)
}
