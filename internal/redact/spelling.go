package redact

import (
	"net/url"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
)

// forPages is how encoders write what must not end a script on a page.
var forPages = strings.NewReplacer("&", `\u0026`, "<", `\u003c`, ">", `\u003e`)

// Spellings are the forms in which a secret that is known to the letter may stand in an answer: as it is, and as encoders of JSON and of
// addresses write it. The first is the secret itself, and none is there twice.
func Spellings(secret string) []string {
	quoted := jsontext.AppendString(nil, secret)
	inJSON := string(quoted[1 : len(quoted)-1])
	var forms []string
	for _, form := range []string{secret, inJSON, strings.ReplaceAll(inJSON, "/", `\/`), forPages.Replace(inJSON), url.QueryEscape(secret), url.PathEscape(secret)} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}
