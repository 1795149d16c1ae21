package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/mcpfile"
)

// target is a configured server.
type target struct {
	name   string
	source string   // the file, or "the command line"
	line   []string // the command as configured, perhaps with candor wrap; nil for a URL
	env    []string // the whole environment
	dir    string
	url    *url.URL
	header http.Header
	path   guiPath // where its command is looked up
	skip   string  // why it cannot be tried here
}

// servers returns all configured servers.
func (e *examination) servers() []target {
	own := guiPath{e.Getenv("PATH"), "PATH"}
	var list []target
	if len(e.Command) > 0 {
		list = append(list, target{name: filepath.Base(e.Command[0]), source: "the command line", line: e.Command, env: e.Environ, path: own})
	}
	if f := e.config.file; f != nil {
		for i := range f.Upstreams {
			u := &f.Upstreams[i]
			t := target{name: u.Name, source: e.config.name, line: u.Command, url: u.URL, header: u.HTTP.Header, path: own}
			t.env = append(withoutSecrets(e.Environ, f, u), u.Env...)
			if len(e.config.missing) > 0 && mentions(u, e.config.missing) {
				t.skip = "an environment variable that it needs is not set"
			}
			list = append(list, t)
		}
	}
	return append(list, e.clientServers()...)
}

// mentions reports whether a setting of an upstream refers to a variable that is not set. The reader has replaced its value.
func mentions(u *config.Upstream, missing []string) bool {
	for _, name := range u.Secrets {
		if slices.Contains(missing, name) {
			return true
		}
	}
	has := func(v string) bool { return strings.Contains(v, unset) }
	for _, values := range u.HTTP.Header {
		if slices.ContainsFunc(values, has) {
			return true
		}
	}
	return slices.ContainsFunc(u.Env, has)
}

// withoutSecrets returns the environment without the secrets that the gateway withholds from an upstream.
func withoutSecrets(environ []string, f *config.File, u *config.Upstream) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		if name == f.TokenEnv && name != "" {
			return true
		}
		if slices.Contains(u.Secrets, name) {
			return false
		}
		return slices.ContainsFunc(f.Upstreams, func(other config.Upstream) bool { return slices.Contains(other.Secrets, name) })
	})
}

// clientServers returns the servers of the clients' files that are not disabled.
func (e *examination) clientServers() []target {
	var list []target
	for _, c := range e.Clients {
		if c.File == nil {
			continue
		}
		for i := range c.File.Servers {
			if s := &c.File.Servers[i]; !s.Disabled {
				list = append(list, e.clientServer(&c, s))
			}
		}
	}
	return list
}

func (e *examination) clientServer(c *ClientFile, s *mcpfile.Server) target {
	t := target{name: s.Name, source: c.Name, dir: s.Dir, header: http.Header{}, path: e.gui}
	t.env = append(slices.Clone(e.Environ), "PATH="+e.gui.list)
	expand := func(text string) string {
		text = e.expand(text)
		if left := placeholder.FindString(text); left != "" {
			t.skip = "only the client knows the value of " + left
		}
		return text
	}
	if !c.Start {
		t.skip = "it is only in the file of a client; choose it with --client or --from"
	}
	for _, word := range s.Command {
		t.line = append(t.line, expand(word))
	}
	for _, p := range s.Env {
		t.env = append(t.env, p.Name+"="+expand(p.Value))
	}
	for _, p := range s.Headers {
		t.header.Set(p.Name, expand(p.Value))
	}
	if s.URL != "" {
		var err error
		if t.url, err = url.Parse(expand(s.URL)); err != nil || t.url.Host == "" {
			t.url, t.skip = &url.URL{}, "its address is not a URL"
		}
	}
	return t
}

// placeholder matches what clients replace: ${NAME}, ${env:NAME}, ${NAME:-default} and their own, such as ${input:token}.
var placeholder = regexp.MustCompile(`\$\{[^{}]*\}`)

var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// reference returns the variable in a placeholder, and its default. Others are replaced by the client.
func reference(text string) (name, otherwise string, isVariable bool) {
	name = strings.TrimPrefix(text[2:len(text)-1], "env:")
	name, otherwise, _ = strings.Cut(name, ":-")
	return name, otherwise, variableName.MatchString(name)
}

// expand replaces variables that are set. Others stay.
func (e *examination) expand(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name, otherwise, isVariable := reference(found)
		if v := e.Getenv(name); isVariable && v != "" {
			return v
		}
		if isVariable && otherwise != "" {
			return otherwise
		}
		return found
	})
}

// references returns the environment variables to which the file refers without a default.
func (c *ClientFile) references() []string {
	if c.File == nil {
		return nil
	}
	var names []string
	look := func(text string) {
		for _, found := range placeholder.FindAllString(text, -1) {
			if name, otherwise, isVariable := reference(found); isVariable && otherwise == "" {
				names = append(names, name)
			}
		}
	}
	for i := range c.File.Servers {
		s := &c.File.Servers[i]
		if s.Disabled {
			continue
		}
		for _, word := range append(slices.Clone(s.Command), s.URL) {
			look(word)
		}
		for _, p := range append(slices.Clone(s.Env), s.Headers...) {
			look(p.Value)
		}
	}
	return names
}

// clientCheck reports the files of clients that cannot be read, and duplicate names.
func (e *examination) clientCheck(context.Context) []Finding {
	if len(e.Clients) == 0 {
		return one(skipped("no file of a client was found; name one with --from"))
	}
	var findings []Finding
	for _, c := range e.Clients {
		switch {
		case c.Err != nil:
			findings = append(findings, failed("client-file-invalid", c.Err.Error(), "correct the file; the client cannot read it either").about(c.Name))
		case len(c.File.Duplicates) > 0:
			findings = append(findings, failed("duplicate-server", fmt.Sprintf("%s has more than one server with the name %q; clients use only one of them", c.Name, c.File.Duplicates[0]),
				"give each server its own name").about(c.Name))
		default:
			findings = append(findings, ok(fmt.Sprintf("%s has %s, %d behind candor wrap", c.Name, count(len(c.File.Servers), "server", "servers"), wrapped(c.File))).about(c.Name))
		}
	}
	return findings
}

func wrapped(f *mcpfile.File) (n int) {
	for i := range f.Servers {
		if _, wrapper := mcpfile.Unwrap(f.Servers[i].Command); wrapper != "" {
			n++
		}
	}
	return n
}

// commandCheck looks up the commands of the servers.
func (e *examination) commandCheck(context.Context) []Finding {
	var findings []Finding
	for _, s := range e.servers() {
		if len(s.line) > 0 {
			findings = append(findings, e.lookUp(s).about(s.name))
		}
	}
	if len(findings) == 0 {
		return one(skipped("no server with a command is configured"))
	}
	return findings
}

func (e *examination) lookUp(s target) Finding {
	server, wrapper := mcpfile.Unwrap(s.line)
	if wrapper != "" && wrapper != "candor" {
		if _, err := lookPath(wrapper, s.path.list); err != nil {
			return failed("wrapper-missing", fmt.Sprintf("the entry runs %s, which does not exist or cannot be executed", wrapper),
				"write the path of this program in the entry: "+e.Executable)
		}
	}
	if len(server) == 0 {
		return failed("command-missing", "the entry has no command after candor wrap --", "add the command of the server")
	}
	found, err := lookPath(server[0], s.path.list)
	if err == nil {
		return ok(server[0] + " is " + found)
	}
	if elsewhere, e2 := lookPath(server[0], e.Getenv("PATH")); e2 == nil && !strings.ContainsAny(server[0], `/\`) {
		return failed("command-not-on-gui-path", fmt.Sprintf("%s is not on %s, although a shell finds it", server[0], s.path.words), "write its full path in the entry: "+elsewhere)
	}
	return failed("command-missing", fmt.Sprintf("%s: the command does not exist or cannot be executed", server[0]), "install it, check the spelling, or give its full path")
}
