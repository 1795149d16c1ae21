package gateway

import (
	"bytes"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// veil hides the secrets that a server was started with. Those are known to the letter, whatever the server calls them when it tells
// the address that it could not reach: no list of names has them all.
type veil struct{ secrets [][]byte } // as they are written in JSON

var veiled = []byte("[redacted]")

// veilFor returns the veil over what the variables and arguments of a child hold under the name of a secret, nil if they hold none.
func veilFor(c *Child) *veil {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	v := &veil{}
	for _, variable := range env {
		v.take(strings.Cut(variable, "="))
	}
	for i, arg := range c.Args {
		name, value, joined := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "-") {
			continue
		}
		if !joined && i+1 < len(c.Args) {
			value = c.Args[i+1]
		}
		v.take(name, value, true)
	}
	if len(v.secrets) == 0 {
		return nil
	}
	return v
}

// maxVeiled bounds how many secrets are looked for; a server is given a few.
const maxVeiled = 64

func (v *veil) take(name, value string, named bool) {
	if !named || !contract.SecretName(name) || !isUnguessable(value) || len(v.secrets) >= maxVeiled {
		return
	}
	for _, form := range []string{value, url.QueryEscape(value)} {
		quoted := wire.AppendString(nil, form)
		if secret := quoted[1 : len(quoted)-1]; len(v.secrets) == 0 || !bytes.Equal(secret, v.secrets[len(v.secrets)-1]) {
			v.secrets = append(v.secrets, secret)
		}
	}
}

// isUnguessable tells a secret from a word that may stand in any sentence, and from the path or name of a file that holds one.
func isUnguessable(value string) bool {
	if len(value) < 8 || len(value) > 4096 || strings.ContainsAny(value[:1], "/.~") || strings.Contains(value, "://") {
		return false
	}
	return len(value) >= 16 && !strings.Contains(value, " ") ||
		strings.ContainsFunc(value, unicode.IsLetter) && strings.ContainsFunc(value, unicode.IsDigit)
}

// over returns the text with the secrets hidden: the same bytes if it holds none.
func (v *veil) over(text []byte) []byte {
	if v == nil {
		return text
	}
	for _, secret := range v.secrets {
		if bytes.Contains(text, secret) {
			text = bytes.ReplaceAll(text, secret, veiled)
		}
	}
	return text
}

// veil takes the secrets of its server out of a failing answer, and reads it again if it held one. Mode observe touches nothing.
func (c *Call) veil(answer []byte, m *wire.Message) []byte {
	said := c.up.veil.Load().over(answer)
	if c.up.o.Mode == ModeObserve || bytes.Equal(said, answer) {
		return answer
	}
	*m = wire.Parse(said, c.up.o.Limits.Message)
	return said
}
