package clientconfig

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
)

// bridge starts the program that connects a client of stdio to a URL, and does the log-in that the server asks for.
var bridge = []string{"npx", "-y", "mcp-remote"}

// BridgeCommand returns the command line that connects to a URL behind `candor wrap`.
func BridgeCommand(address string) string {
	return "candor wrap -- " + strings.Join(bridge, " ") + " " + address
}

// CheckBridge returns why [Editor.Install] cannot replace the URL of a server by mcp-remote, or nil.
func (s Server) CheckBridge() error {
	u, err := url.Parse(s.URL)
	switch {
	case s.Status != NotStdio || s.launch.command == nil:
		return errors.New("it has no URL")
	case err != nil || strings.ContainsAny(s.URL, "{$"):
		return errors.New("its address has a placeholder")
	case u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback()):
		return errors.New("its address is not https")
	case CleanText(s.URL) != s.URL:
		return errors.New("its address seems to have a secret, which other users could see in the command line")
	case len(s.Headers) > 0:
		return errors.New("its headers may have credentials")
	case s.ownAuth:
		return errors.New("it has settings for its log-in, which only the client knows")
	}
	return nil
}

// authMembers are settings of a client for its log-in to a server.
var authMembers = []string{"oauth", "auth", "authProviderType", "bearer_token_env", "header_env"}

func (n *node) hasAuth() bool {
	return slices.ContainsFunc(authMembers, func(name string) bool {
		v := n.child(name)
		return v != nil && (v.kind != kindTable || len(v.members) > 0)
	})
}

// bridgeEdits replaces the URL of a server by a command, and its type by that of a command.
func (c *Config) bridgeEdits(s Server, candor []string) []edit {
	var words []string
	for _, word := range slices.Concat(candor, s.wrapWords(), bridge, []string{s.URL}) {
		words = append(words, quoted(word))
	}
	m := s.launch.command
	text := `"command": ` + words[0] + c.newArgs(m, words[1:])
	kind := "stdio"
	switch {
	case c.client.mixed:
		text, kind = `"command": [`+strings.Join(words, ", ")+"]", "local"
	case c.client.format == formatTOML:
		text = m.prefix + "command = " + words[0] + c.newArgs(m, words[1:])
	case c.client.format == formatYAML:
		text = "cmd: " + words[0] + c.newArgs(m, words[1:])
	}
	edits := []edit{{m.start, m.value.end, text}}
	if k := s.launch.kind; k != nil {
		edits = append(edits, edit{k.value.start, k.value.end, quoted(kind)})
	}
	return edits
}

// unbridgeEdits writes the URL and the type of a server again, as they are in an older file.
func (c *Config) unbridgeEdits(s Server, older *Config, old Server) []edit {
	last := s.launch.command.value
	if s.launch.args != nil {
		last = s.launch.args.value
	}
	m := old.launch.command
	edits := []edit{{s.launch.command.start, last.end, string(older.src[m.start:m.value.end])}}
	if k, was := s.launch.kind, old.launch.kind; k != nil && was != nil {
		edits = append(edits, edit{k.value.start, k.value.end, older.text(was.value)})
	}
	return edits
}

// bridged returns the server of an older file whose URL [Editor.Install] has replaced.
func (s Server) bridged(older []*Config) (*Config, Server, bool) {
	own, _ := Unwrap(s.Line())
	if n := len(bridge); len(own) != n+1 || !slices.Equal(own[:n], bridge) {
		return nil, Server{}, false
	}
	for _, c := range older {
		for _, was := range c.Servers {
			if slices.Equal(was.path, s.path) && !was.wrapped() {
				return c, was, was.Status == NotStdio && was.URL == own[len(bridge)] && was.launch.command != nil
			}
		}
	}
	return nil, Server{}, false
}
