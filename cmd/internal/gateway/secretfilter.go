package gateway

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/redact"
)

// SecretFilter removes the secrets that a server was started with from texts. They are matched exactly, with any name.
type SecretFilter struct{ secrets [][]byte } // in each encoding they may have, the longest first

var redactedText = []byte("[redacted]")

// CommandSecrets returns a filter for the secrets in the environment and arguments of a server, or nil. A nil env means the
// environment of this process.
func CommandSecrets(env, args []string) *SecretFilter {
	if env == nil {
		env = os.Environ()
	}
	v := &SecretFilter{}
	for _, variable := range env {
		v.add(strings.Cut(variable, "="))
	}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && strings.HasPrefix(name, "-") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value, joined = args[i+1], true
		}
		v.add(name, value, joined)                    // --token=VALUE, --token VALUE, and API_KEY=VALUE behind -e
		v.add(strings.Cut(value, "="))                // --env=API_KEY=VALUE
		for _, header := range []string{arg, value} { // Authorization: Bearer VALUE
			name, value, named := strings.Cut(header, ":")
			if words := strings.Fields(value); named && len(words) > 0 {
				v.add(name, words[len(words)-1], true)
			}
		}
	}
	return v.sorted()
}

// HTTPSecrets returns a filter for the secrets in the configured headers and URL of an HTTP server, or nil.
func HTTPSecrets(header http.Header, target *url.URL) *SecretFilter {
	v := &SecretFilter{}
	for name, values := range header {
		for _, value := range values {
			if words := strings.Fields(value); len(words) > 0 {
				v.add(name, words[len(words)-1], true)
			}
		}
	}
	if target == nil { // a bridge starts its server, which has no address
		return v.sorted()
	}
	for name, values := range target.Query() {
		for _, value := range values {
			v.add(name, value, true)
		}
	}
	return v.sorted()
}

// sorted returns the filter ready for use, or nil if it is empty.
func (v *SecretFilter) sorted() *SecretFilter {
	if len(v.secrets) == 0 {
		return nil
	}
	slices.SortFunc(v.secrets, bytes.Compare)
	v.secrets = slices.CompactFunc(v.secrets, bytes.Equal)
	slices.SortStableFunc(v.secrets, func(a, b []byte) int { return len(b) - len(a) }) // longest first: a secret may be the prefix of another
	return v
}

// maxSecrets bounds the number of secrets of one server.
const maxSecrets = 256

func (v *SecretFilter) add(name, value string, named bool) {
	if !named || !redact.Key(name) || !isUnguessable(value) || len(v.secrets) >= maxSecrets {
		return
	}
	for _, form := range redact.Spellings(value) {
		v.secrets = append(v.secrets, []byte(form))
	}
}

// isUnguessable reports whether a value looks like a secret, and not like an ordinary word or the path of a file that holds one.
func isUnguessable(value string) bool {
	if len(value) < 8 || len(value) > 4096 || isPath(value) || strings.Contains(value, "://") {
		return false
	}
	return len(value) >= 16 && !strings.Contains(value, " ") ||
		strings.ContainsFunc(value, unicode.IsLetter) && strings.ContainsFunc(value, unicode.IsDigit)
}

// isPath reports whether a value looks like a file path. A long random text may also begin with a slash.
func isPath(value string) bool {
	if strings.ContainsAny(value[:1], "/.~") && (len(value) < 40 || strings.Contains(value[1:], "/")) {
		return true
	}
	switch path.Ext(value) {
	case ".json", ".pem", ".key", ".p12", ".crt", ".txt":
		return true
	}
	return false
}

// Redact returns the text with the secrets replaced. It returns the same slice if there are none.
func (v *SecretFilter) Redact(text []byte) []byte {
	if v == nil {
		return text
	}
	for _, secret := range v.secrets {
		if bytes.Contains(text, secret) {
			text = bytes.ReplaceAll(text, secret, redactedText)
		}
	}
	return text
}
