package newconfig

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// write returns the text of the file.
func (c *Config) write(sources []Source) string {
	var b strings.Builder
	b.WriteString("# Configuration of candor gateway, written by candor init from the servers in\n")
	for _, s := range sources {
		fmt.Fprintf(&b, "#   %s\n", comment(s.Title))
	}
	b.WriteString(`#
# candor gateway check      checks this file and shows the servers
# candor gateway --config candor.yaml
#                           serves each server below at ` + base + `NAME/
# candor config schema      prints the schema of this file, for editors
version: 1

# Where clients connect. An address that other machines reach needs a token and host names:
# token: ${CANDOR_TOKEN} and hosts: [gate.example].
listen: ` + config.DefaultListen + `

# Where /healthz, /metrics and /status are served. Without this key they are not.
#admin: 127.0.0.1:8766

# The folder where failures are recorded. Default: $CANDOR_LEDGER, else a folder in the user's state folder.
#ledger: ledger

# How failing answers may be changed: ` + modes() + `.
#mode: ` + string(gateway.ModeAnnotate) + `

# How long a call may take without reporting progress. Each server can have its own.
#timeout: 5m

upstreams:
`)
	for i := range c.Servers {
		c.Servers[i].write(&b)
	}
	c.writeLeft(&b)
	return b.String()
}

// base is the address of the servers.
const base = "http://" + config.DefaultListen + "/"

func modes() string {
	var names []string
	for _, m := range gateway.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

func (u *Upstream) write(b *strings.Builder) {
	s := &u.server
	fmt.Fprintf(b, "  # %s%s/, from %s\n", base, u.Name, comment(strings.Join(u.Sources, "; ")))
	fmt.Fprintf(b, "  %s:\n", scalar(u.Name))
	if s.URL != "" {
		fmt.Fprintf(b, "    url: %s\n", scalar(s.URL))
		if len(u.headers) > 0 {
			b.WriteString("    headers: # set the variables where the gateway is started\n")
		}
		for _, p := range u.headers {
			fmt.Fprintf(b, "      %s: %s\n", scalar(p.Name), scalar(p.Value))
		}
		b.WriteString("\n")
		return
	}
	var words []string
	for _, word := range u.command {
		words = append(words, scalar(word))
	}
	fmt.Fprintf(b, "    command: [%s]\n", strings.Join(words, ", "))
	if filepath.IsAbs(s.Dir) {
		fmt.Fprintf(b, "    cwd: %s\n", scalar(s.Dir))
	}
	for _, note := range u.Notes {
		fmt.Fprintf(b, "    # Not written: %s.\n", comment(note))
	}
	if len(u.env) > 0 {
		b.WriteString("    env: # set the variables where the gateway is started\n")
	}
	for _, p := range u.env {
		fmt.Fprintf(b, "      %s: %s\n", scalar(p.Name), scalar(p.Value))
	}
	b.WriteString("    #restart: 3      # restarts per minute if it ends\n    #shared: true    # one process for all sessions\n\n")
}

func (c *Config) writeLeft(b *strings.Builder) {
	for _, l := range c.Left {
		fmt.Fprintf(b, "  # Not written: %s, from %s: %s.\n", comment(l.Name), comment(l.Source), comment(l.Reason))
	}
}

// comment returns text that cannot end a comment.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// plainScalar matches words that mean themselves in YAML, unless they are one of its few words for other values.
var plainScalar = regexp.MustCompile(`^[A-Za-z./][A-Za-z0-9./_+-]*$|^-{1,2}[A-Za-z][A-Za-z0-9_-]*$`)

var specialScalar = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n|\.nan|[.]inf)$`)

// scalar returns a text as a YAML scalar. A JSON string is one.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !specialScalar.MatchString(text) {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
