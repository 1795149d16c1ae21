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

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// redactSecrets hides the secrets that a server was started with. Those are known to the letter, whatever the server calls them when it tells
// the address that it could not reach: no list of names has them all.
type SecretFilter struct{ secrets [][]byte } // in every form in which they may be written, the longest first

var redactedText = []byte("[redacted]")

// CommandSecrets returns the veil over what the environment and arguments of a server hold under the name of a secret, nil if they hold none. A nil env is that of this process.
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

// HTTPSecrets returns the veil over the secrets in the configured headers and address of an HTTP server, nil if they hold none.
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

// sorted returns the veil ready for use, nil if it hides nothing.
func (v *SecretFilter) sorted() *SecretFilter {
	if len(v.secrets) == 0 {
		return nil
	}
	slices.SortFunc(v.secrets, bytes.Compare)
	v.secrets = slices.CompactFunc(v.secrets, bytes.Equal)
	slices.SortStableFunc(v.secrets, func(a, b []byte) int { return len(b) - len(a) }) // or of one that another begins with the rest would be told
	return v
}

// maxSecrets bounds how many secrets are looked for; a server is given a few.
const maxSecrets = 256

func (v *SecretFilter) add(name, value string, named bool) {
	if !named || !contract.SecretName(name) || !isUnguessable(value) || len(v.secrets) >= maxSecrets {
		return
	}
	for _, form := range redact.Spellings(value) {
		v.secrets = append(v.secrets, []byte(form))
	}
}

// isUnguessable tells a secret from a word that may stand in any sentence, and from the path of a file that holds one.
func isUnguessable(value string) bool {
	if len(value) < 8 || len(value) > 4096 || isPath(value) || strings.Contains(value, "://") {
		return false
	}
	return len(value) >= 16 && !strings.Contains(value, " ") ||
		strings.ContainsFunc(value, unicode.IsLetter) && strings.ContainsFunc(value, unicode.IsDigit)
}

// isPath reports what looks like a file. A long random text may begin with a slash, too.
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

// Redact returns the text with the secrets hidden: the same bytes if it holds none.
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

// redactSecrets takes the secrets of its server out of a failing answer, and reads it again if it held one.
func (c *Call) redactSecrets(answer []byte, m *wire.Message) []byte {
	said := c.up.Secrets.Load().Redact(answer)
	if bytes.Equal(said, answer) {
		return answer
	}
	*m = wire.Parse(said, c.up.Options.Limits.Message)
	return said
}
