package redact

import "strings"

// arnLimit bounds how far back the beginning of an ARN is looked for.
const arnLimit = 160

// inARN reports whether the word at i is a part of an Amazon resource name, such as arn:aws:secretsmanager:…:secret:name: there
// the words between the colons name kinds of resources.
func inARN(s string, i int) bool {
	if i == 0 || s[i-1] != ':' {
		return false
	}
	from := (ident | colon | slash).back(s, i, arnLimit)
	at := strings.LastIndex(s[from:i], "arn:aws")
	return at == 0 || at > 0 && !alnum.in(s[from+at-1])
}
