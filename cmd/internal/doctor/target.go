package doctor

import (
	"cmp"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// target is a configured server.
type target struct {
	name   string
	label  string   // name, with the source if several servers have that name
	source string   // the file, or "the command line"
	line   []string // the command as configured, perhaps with candor wrap; nil for a URL
	env    []string // the whole environment
	dir    string
	url    *url.URL
	header http.Header
	path   guiPath // where its command is looked up
	skip   string  // why it cannot be tried here
	off    bool    // the client does not start its command, so that nothing else about it matters
	repair string  // what to do if its Candor is missing
	adrift bool    // relative paths of the entry start at a folder that only the client knows
}

// servers returns all configured servers, each with its own label.
func (e *examination) servers() []target {
	list := e.allServers()
	count := map[string]int{}
	for i := range list {
		count[list[i].name]++
	}
	for i := range list {
		t := &list[i]
		if t.label = t.name; count[t.name] > 1 {
			t.label += " (" + t.source + ")"
		}
	}
	return list
}

func (e *examination) allServers() []target {
	own := e.shellPath()
	var list []target
	if len(e.Command) > 0 {
		list = append(list, target{name: filepath.Base(e.Command[0]), source: "the command line", line: e.Command, env: e.Environ, path: own})
	}
	if f := e.config.file; f != nil {
		for i := range f.Upstreams {
			u := &f.Upstreams[i]
			t := target{name: u.Name, source: e.config.name, line: u.Command, dir: u.Dir, url: u.URL, header: u.HTTP.Header, path: own}
			t.env = f.Environ(u, e.Environ)
			switch {
			case e.Found:
				t.skip = FoundHere + ", or --config " + e.config.name
			case len(e.config.missing) > 0 && mentions(u, e.config.missing):
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

// clientServers returns the servers of the clients' files, except entries that cannot be read: clientCheck reports those.
func (e *examination) clientServers() []target {
	var list []target
	for _, c := range e.Clients {
		for i := range c.Servers {
			if s := &c.Servers[i]; s.Status != clientconfig.Unsupported {
				list = append(list, e.clientServer(&c, s))
			}
		}
	}
	return list
}

func (e *examination) clientServer(c *ClientFile, s *clientconfig.Server) target {
	t := target{name: clientconfig.CleanText(s.Name), source: c.Name(), dir: s.Dir, header: http.Header{}, path: e.gui}
	if c.Client.Terminal {
		t.path = e.shellPath()
	}
	switch {
	case s.Disabled:
		t.skip, t.off = "it is disabled in the client", true
		return t
	case s.Status == clientconfig.Managed:
		t.skip, t.off = s.Problem, true
		return t
	}
	if c.Client.ID != "" {
		t.repair = "candor install --client " + c.Client.ID + " repairs the entry; or"
	}
	t.env = append(slices.Clone(e.Environ), "PATH="+t.path.list)
	expand := func(text string) string {
		text = e.expand(text)
		if left := placeholder.FindString(text); left != "" && t.skip == "" {
			t.skip = unknownValue(left)
		}
		return text
	}
	t.dir = expand(t.dir)
	t.adrift = c.Client.ID != "" && !c.Project && !filepath.IsAbs(t.dir)
	switch {
	case !c.Start:
		t.skip = c.Why
	case s.EnvFile != "":
		t.skip = "only the client reads the variables in its envFile"
	case t.adrift && t.dir != "":
		t.skip = "its folder is " + relativePath
	}
	if t.adrift { // not in the current folder, from which npx, python and others would load code
		t.dir = cmp.Or(e.Getenv(clientconfig.HomeVariable()), string(filepath.Separator))
	}
	for _, word := range s.Line() {
		t.line = append(t.line, expand(word))
	}
	if line, _ := clientconfig.Unwrap(t.line); t.adrift && t.skip == "" && isRelative(firstWord(line)) {
		t.skip = line[0] + " is " + relativePath
	}
	for _, p := range s.Env {
		t.env = append(t.env, p.Name+"="+expand(p.Value))
	}
	for _, p := range s.Headers {
		t.header.Set(p.Name, expand(p.Value))
	}
	if s.URL != "" {
		var err error
		address := expand(s.URL)
		if t.url, err = url.Parse(address); (err != nil || t.url.Host == "") && !placeholder.MatchString(address) {
			t.url = nil
		}
	}
	return t
}

// FoundHere says why a server of a file in the current folder is not started: the folder may be a clone of someone else's repository.
const FoundHere = "from this folder's files; to start it add --project"

// relativePath describes a path that cannot be looked up here.
const relativePath = "relative to a folder that only the client knows"

// unknownValue says why the value of a placeholder is not known.
func unknownValue(left string) string {
	if name, _, isVariable := reference(left); isVariable {
		return "the environment variable " + name + " is not set"
	}
	return "only the client knows the value of " + left
}

// placeholder matches what clients replace: ${NAME}, ${env:NAME}, {env:NAME}, ${NAME:-default} and their own, such as ${input:token}.
var placeholder = regexp.MustCompile(`\$\{[^{}]*\}|\{(?:env|file):[^{}]*\}`)

var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// reference returns the variable in a placeholder, and its default. Others are replaced by the client.
func reference(text string) (name, otherwise string, isVariable bool) {
	name = strings.TrimPrefix(strings.TrimLeft(strings.TrimSuffix(text, "}"), "${"), "env:")
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

// references returns the environment variables to which the file refers without a default, each with a server that needs it.
func (c *ClientFile) references() []clientconfig.Pair {
	var names []clientconfig.Pair
	server := ""
	look := func(text string) {
		for _, found := range placeholder.FindAllString(text, -1) {
			if name, otherwise, isVariable := reference(found); isVariable && otherwise == "" {
				names = append(names, clientconfig.Pair{Name: name, Value: server})
			}
		}
	}
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Disabled || s.Status == clientconfig.Unsupported {
			continue
		}
		server = clientconfig.CleanText(s.Name)
		for _, word := range append(s.Line(), s.URL) {
			look(word)
		}
		for _, p := range append(slices.Clone(s.Env), s.Headers...) {
			look(p.Value)
		}
	}
	return names
}
