// Package newconfig writes a commented candor.yaml for servers that were found in the files of clients.
//
// No value of a variable or of a header is copied: each becomes a reference to an environment variable. A server whose command or
// address seems to have a secret is left out, because the format has no references there.
package newconfig

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// Source is a list of servers and the file they are from.
type Source struct {
	Title   string // for people, such as "Cursor, /home/ann/.cursor/mcp.json"
	Servers []clientconfig.Server
	Without string // why none of them is written; "" if they are
}

// Config is a new configuration.
type Config struct {
	Text      string     `json:"-"`
	Servers   []Upstream `json:"servers"`
	Left      []Left     `json:"left_out"`
	Variables []string   `json:"variables"` // environment variables that the gateway needs
}

// Upstream is a server of the configuration.
type Upstream struct {
	Name    string   `json:"name"`
	Sources []string `json:"sources"`
	Notes   []string `json:"notes,omitempty"` // settings of the entry that the configuration does not have

	server  clientconfig.Server
	command []string            // without candor wrap
	env     []clientconfig.Pair // with references as values
	headers []clientconfig.Pair
}

// Left is a server that is not in the configuration.
type Left struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Reason string `json:"reason"`
}

// New returns a configuration for the servers. It is valid once its variables are set. logins returns which of some addresses ask for a
// log-in, which the gateway cannot pass on.
func New(sources []Source, logins func([]*url.URL) map[string]bool) (*Config, error) {
	c := &Config{Servers: []Upstream{}, Left: []Left{}, Variables: []string{}}
	values := map[string]string{} // variable: the value that it stands for
	asks := logins(openAddresses(sources))
	for _, source := range sources {
		for _, s := range source.Servers {
			command, _ := clientconfig.Unwrap(s.Line())
			reason := cmp.Or(source.Without, unfit(&s, command))
			if reason == "" && asks[s.URL] {
				reason = "it asks for a log-in with OAuth, which the gateway cannot pass on; in the client use " + clientconfig.BridgeCommand(s.URL)
			}
			if reason != "" {
				c.Left = append(c.Left, Left{Name: clientconfig.CleanText(s.Name), Source: source.Title, Reason: reason})
				continue
			}
			c.add(s, command, source.Title, values)
		}
	}
	if len(c.Servers) == 0 {
		return c, nil
	}
	c.Text = c.write(sources)
	if err := check(c.Text); err != nil {
		return nil, fmt.Errorf("checking the new configuration: %w", err)
	}
	return c, nil
}

// openAddresses returns the addresses of the servers that can be written and have no credentials.
func openAddresses(sources []Source) (addresses []*url.URL) {
	for _, source := range sources {
		for _, s := range source.Servers {
			if u, err := url.Parse(s.URL); s.URL != "" && err == nil && len(s.Headers) == 0 && cmp.Or(source.Without, unfit(&s, nil)) == "" {
				addresses = append(addresses, u)
			}
		}
	}
	return addresses
}

// check reads a file as the gateway does, as if all variables were set.
func check(text string) error {
	_, err := config.Parse("candor.yaml", []byte(text), config.Source{Getenv: func(string) string { return "set" }})
	return err
}

// unfit returns why a server cannot be written, or "".
func unfit(s *clientconfig.Server, command []string) string {
	switch {
	case s.Status == clientconfig.Unsupported || s.Status == clientconfig.Managed:
		return s.Problem
	case s.Disabled:
		return "it is disabled in the client"
	case s.URL == "" && command[0] == "":
		return "it has no command"
	case s.URL == "" && slices.ContainsFunc(append([]string{s.Dir}, command...), func(w string) bool { return strings.Contains(w, "${") }):
		return "its command or its folder has a placeholder, which only the client can replace"
	case s.URL == "" && isGateway(command):
		return "it is candor gateway"
	case s.URL == "" && !slices.Equal(clientconfig.CleanLine(command), command):
		return "its command seems to have a secret; pass it in a variable of env instead"
	case slices.ContainsFunc(s.Env, func(p clientconfig.Pair) bool { return !envName.MatchString(p.Name) }):
		return "the gateway does not accept the name of one of its variables"
	case s.URL == "":
		return ""
	}
	u, err := config.ParseURL(s.URL)
	switch {
	case err != nil || strings.Contains(s.URL, "${"):
		return "its address is not one that the gateway accepts"
	case config.ShowURL(u) != u.String():
		return "its address seems to have a secret; pass it in a header instead"
	}
	for _, p := range s.Headers {
		if check("version: 1\nupstreams:\n  a:\n    url: http://h/\n    headers: {"+scalar(p.Name)+": \"${X}\"}\n") != nil {
			return "the gateway does not accept one of its headers"
		}
	}
	return ""
}

// add adds a server. One that several clients have is added once.
func (c *Config) add(s clientconfig.Server, command []string, source string, values map[string]string) {
	for i := range c.Servers {
		if u := &c.Servers[i]; slices.Equal(u.command, command) && same(&u.server, &s) {
			c.Servers[i].Sources = append(c.Servers[i].Sources, source)
			return
		}
	}
	u := Upstream{Name: c.freeName(s.Name), Sources: []string{source}, server: s, command: command}
	if s.URL == "" {
		u.Notes = notes(&s)
		u.env = c.references(u.Name, s.Env, values, func(name string) string { return name })
	} else {
		u.headers = c.references(u.Name, s.Headers, values, func(name string) string { return variable(u.Name + "_" + name) })
	}
	c.Servers = append(c.Servers, u)
}

// notes returns the settings of an entry that are left out.
func notes(s *clientconfig.Server) []string {
	var list []string
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		list = append(list, "cwd: the client starts it in "+s.Dir+", relative to a folder that only the client knows; the gateway starts it in its own folder")
	}
	if s.EnvFile != "" {
		list = append(list, "envFile: the client also sets the variables in "+s.EnvFile+"; set them where the gateway is started")
	}
	return list
}

// isGateway reports whether a command line is `candor gateway`, which would be a gateway behind the gateway.
func isGateway(command []string) bool { return clientconfig.IsCandor(command) }

// same reports whether two entries have the same settings, apart from the command.
func same(a, b *clientconfig.Server) bool {
	return a.Name == b.Name && a.URL == b.URL && a.Dir == b.Dir && a.EnvFile == b.EnvFile && slices.Equal(sorted(a.Env), sorted(b.Env)) && slices.Equal(sorted(a.Headers), sorted(b.Headers))
}

func sorted(list []clientconfig.Pair) []clientconfig.Pair {
	return slices.SortedFunc(slices.Values(list), func(a, b clientconfig.Pair) int { return cmp.Compare(a.Name, b.Name) })
}

// unfitName matches what a name of an upstream cannot have.
var unfitName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// freeName returns a valid name of an upstream that is not used yet.
func (c *Config) freeName(name string) string {
	if clientconfig.CleanText(name) != name {
		name = ""
	}
	name = strings.TrimLeft(unfitName.ReplaceAllString(name, "-"), "._-")
	name = cmp.Or(strings.TrimRight(name[:min(len(name), 60)], "-"), "server")
	for n, base := 2, name; slices.ContainsFunc(c.Servers, func(u Upstream) bool { return u.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// scheme matches the part of a header that is not secret.
var scheme = regexp.MustCompile(`^(Bearer|Basic|Token) `)

// onlyReference matches a value that is already a reference, as clients write it.
var onlyReference = regexp.MustCompile(`^(?:\$\{(?:env:)?|\{env:)([A-Za-z_][A-Za-z0-9_]*)\}$`)

// envName matches the names that a file may refer to.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// references replaces each value by a reference to an environment variable. If two servers have different values for one variable,
// the second gets a variable with the name of the server before it.
func (c *Config) references(server string, list []clientconfig.Pair, values map[string]string, nameOf func(string) string) []clientconfig.Pair {
	var out []clientconfig.Pair
	for _, p := range list {
		prefix := scheme.FindString(p.Value)
		secret := strings.TrimPrefix(p.Value, prefix)
		name := nameOf(p.Name)
		if known := onlyReference.FindStringSubmatch(secret); known != nil {
			name, secret = known[1], secret[:0]
		}
		if !envName.MatchString(name) {
			name = variable(name)
		}
		for n := 1; ; n++ {
			if old, used := values[name]; !used || old == secret {
				break
			}
			name = variable(server + "_" + p.Name)
			if n > 1 {
				name = fmt.Sprintf("%s_%d", name, n)
			}
		}
		if _, used := values[name]; !used {
			values[name] = secret
			c.Variables = append(c.Variables, name)
		}
		out = append(out, clientconfig.Pair{Name: p.Name, Value: prefix + "${" + name + "}"})
	}
	return out
}

var unfitVariable = regexp.MustCompile(`[^A-Z0-9]+`)

// variable returns a text as the name of an environment variable.
func variable(text string) string {
	name := unfitVariable.ReplaceAllString(strings.ToUpper(text), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}
