package config

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redact"
)

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

var envForm = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// token returns a value that reads the environment variable of the token. A token in the file is refused, because files
// are copied, committed and mailed.
func (d *draft) token() value {
	const words = "${NAME} of an environment variable, or none"
	schema := map[string]any{"type": "string", "pattern": `^(\$\{[A-Za-z_][A-Za-z0-9_]*\}|none)$`}
	return discreet(words, schema, func(r *reader, n ast.Node, text string) {
		if text == None {
			d.f.NoToken = true
			return
		}
		if envForm.Get().FindString(text) != text || text == "" {
			r.hide(n, mistake("put it into the environment and write token: ${CANDOR_TOKEN}", "a token is never written into the file"))
			return
		}
		d.f.Token, d.f.TokenEnv = r.expand(n, text), text[2:len(text)-1]
	})
}

// discreet returns a value for a text that may be a secret and is not shown in errors.
func discreet(words string, schema map[string]any, read func(r *reader, n ast.Node, text string)) value {
	return single(words, schema, (*reader).hide, read)
}

// expand replaces each ${NAME} by the environment variable of that name, which must be set.
func (r *reader) expand(n ast.Node, text string) string {
	return envForm.Get().ReplaceAllStringFunc(text, func(ref string) string {
		name := ref[2 : len(ref)-1]
		v := r.getenv(name)
		if v == "" {
			r.fail(n, mistake("set it where the gateway is started", "the environment variable %s is not set", name))
		}
		return v
	})
}

// secretsIn returns the variables in a setting that hold a secret: all of them if the setting is a secret, otherwise
// those whose name or value looks like one. Others, such as HOME, are available to every server.
func (r *reader) secretsIn(text string, secret bool) []string {
	var names []string
	for _, found := range envForm.Get().FindAllStringSubmatch(text, -1) {
		name := found[1]
		if v := r.getenv(name); secret || redact.Key(name) || (redact.Policy{KeepPaths: true}).Text(v) != v {
			names = append(names, name)
		}
	}
	return names
}

// headers returns a value that reads headers for requests to the upstream. Values that look like secrets must come from
// the environment.
func headers(into http.Header, secrets *[]string) value {
	return named("header", "headers by name", func(name string) (value, error) {
		if !isHeaderName(name) {
			return value{}, mistake("such as Authorization or X-Api-Key", "%s: not the name of a header that may be set", quote(name))
		}
		return discreet("a text", anyText, func(r *reader, n ast.Node, text string) {
			switch {
			case strings.ContainsAny(text, "\r\n\x00"):
				r.hide(n, mistake("give one line", "a header is one line"))
			case !envForm.MatchString(text) && isSecretHeader(name):
				r.hide(n, mistake("put it into the environment and write "+name+": ${NAME}", "a secret is never written into the file"))
			default:
				into.Set(name, r.expand(n, text))
				*secrets = append(*secrets, r.secretsIn(text, isSecretHeader(name))...)
			}
		}), nil
	})
}

// environment returns a value that reads variables for a server, added to those of the gateway. Values that look like
// secrets must come from the gateway's environment.
func environment(into, secrets *[]string) value {
	return named("variable", "variables by name", func(name string) (value, error) {
		if !envName.MatchString(name) {
			return value{}, mistake("letters, digits and _, such as API_URL", "%s: not a name of an environment variable", quote(name))
		}
		return discreet("a text", anyText, func(r *reader, n ast.Node, text string) {
			switch {
			case !envForm.MatchString(text) && redact.Key(name):
				r.hide(n, mistake("put it into the environment of the gateway and write "+name+": ${"+name+"}", "a secret is never written into the file"))
			default:
				*into = append(*into, name+"="+r.expand(n, text))
				*secrets = append(*secrets, r.secretsIn(text, redact.Key(name))...)
			}
		}), nil
	})
}

// isSecretHeader reports whether a header carries credentials.
func isSecretHeader(name string) bool {
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Authorization", "Proxy-Authorization", "Cookie":
		return true
	default:
		return redact.Key(name)
	}
}

var headerForm = lazyregexp.New(`^[A-Za-z0-9!#$%&'*+.^_|~-]{1,64}$`)

// isHeaderName reports whether a name is a valid header that is not specific to the connection.
func isHeaderName(name string) bool {
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Te", "Trailer", "Keep-Alive":
		return false
	default:
		return headerForm.MatchString(name)
	}
}
