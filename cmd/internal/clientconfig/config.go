package clientconfig

import (
	"path"
	"strings"
)

// Status says whether a server goes through Candor.
type Status string

// The states of a server.
const (
	Unprotected Status = "unprotected" // a command that can be put behind `candor wrap`
	Protected   Status = "protected"   // the command is Candor
	NotStdio    Status = "not stdio"   // a URL: the client connects, it starts nothing
	Unsupported Status = "unsupported" // Problem says why
)

// Server is an entry of a configuration file.
type Server struct {
	Name    string
	Project string // the folder for which the entry is, in a file that has entries for several; else ""
	Command string
	Args    []string
	// Env has the variables that the entry sets. The values may be secrets.
	Env      map[string]string
	URL      string // may have a secret
	Status   Status
	Problem  string
	Disabled bool

	path   []string
	launch launch
}

// launch is the position of a command and its arguments.
type launch struct {
	command *member
	args    *member // nil if the entry has none
}

// Config is a configuration file that was parsed.
type Config struct {
	Servers []Server

	client Client
	src    []byte
	root   *node
}

// Parse reads the text of a client's file.
func Parse(c Client, src []byte) (*Config, error) {
	parse := parseJSONC
	if c.toml {
		parse = parseTOML
	}
	root, err := parse(src)
	if err != nil {
		return nil, err
	}
	if root.kind != kindTable {
		return nil, syntaxError(src, root.start, "not an object")
	}
	config := &Config{client: c, src: src, root: root}
	err = config.add("", []string{c.servers})
	if err != nil || c.perPath == "" {
		return config, err
	}
	if projects := root.child(c.perPath); projects != nil {
		for _, project := range projects.members {
			if err := config.add(project.name, []string{c.perPath, project.name, c.servers}); err != nil {
				return nil, err
			}
		}
	}
	return config, nil
}

// add reads the table with servers at a path. A name that occurs twice is an error: clients differ in which one they use.
func (c *Config) add(project string, at []string) error {
	n := c.root
	for _, name := range at {
		if n.repeats(name) {
			return syntaxError(c.src, n.get(name).start, "the name "+quoted(name)+" occurs twice in an object")
		}
		if n = n.child(name); n == nil {
			return nil
		}
		if n.kind != kindTable {
			return syntaxError(c.src, n.start, quoted(name)+" is not an object")
		}
	}
	if twice, ok := n.repeated(); ok {
		return syntaxError(c.src, n.get(twice).start, "the server "+quoted(twice)+" occurs twice")
	}
	for _, m := range n.members {
		s := readServer(m.value)
		s.Name, s.Project = m.name, project
		s.path = append(append([]string{}, at...), m.name)
		c.Servers = append(c.Servers, s)
	}
	return nil
}

func readServer(n *node) Server {
	var s Server
	if n.kind != kindTable {
		return s.unsupported("the entry is not an object")
	}
	for _, name := range []string{"command", "args"} {
		if n.repeats(name) {
			return s.unsupported("the entry has " + quoted(name) + " twice")
		}
	}
	s.Env = readEnv(n.child("env"))
	s.Disabled = n.isOff()
	for _, name := range []string{"url", "serverUrl", "httpUrl"} {
		if u := n.child(name); u != nil && u.kind == kindString {
			s.URL = u.text
		}
	}
	s.launch = launch{command: n.get("command"), args: n.get("args")}
	if c := s.launch.command; c != nil && c.value.kind == kindTable { // an older form of Zed: {"path": …, "args": …}
		if c.value.repeats("path") || c.value.repeats("args") {
			return s.unsupported("the command has a name twice")
		}
		s.launch = launch{command: c.value.get("path"), args: c.value.get("args")}
		if env := c.value.child("env"); env != nil {
			s.Env = readEnv(env)
		}
	}
	return s.readLaunch()
}

// readLaunch reads the command line and decides the status.
func (s Server) readLaunch() Server {
	l := s.launch
	switch {
	case l.command == nil && s.URL != "":
		s.Status = NotStdio
		return s
	case l.command == nil:
		return s.unsupported("the entry has no command")
	case l.command.value.kind != kindString || l.command.value.text == "":
		return s.unsupported("the command is not a string")
	}
	s.Command = l.command.value.text
	if l.args != nil {
		args, ok := l.args.value.strings()
		if !ok {
			return s.unsupported("the arguments are not an array of strings")
		}
		s.Args = args
	}
	s.Status = Unprotected
	if IsCandor(s.Line()) {
		s.Status = Protected
	}
	return s
}

func (s Server) unsupported(problem string) Server {
	s.Status, s.Problem = Unsupported, problem
	return s
}

// Line returns the command and its arguments.
func (s Server) Line() []string {
	if s.Command == "" {
		return nil
	}
	return append([]string{s.Command}, s.Args...)
}

// isOff reports whether the client does not start the server.
func (n *node) isOff() bool {
	is := func(name string, value int) bool { // the length tells true from false
		v := n.child(name)
		return v != nil && v.kind == kindOther && v.end-v.start == value
	}
	return is("disabled", len("true")) || is("enabled", len("false"))
}

func readEnv(n *node) map[string]string {
	if n == nil || n.kind != kindTable {
		return nil
	}
	env := make(map[string]string, len(n.members))
	for _, m := range n.members {
		if m.value.kind == kindString {
			env[m.name] = m.value.text
		}
	}
	return env
}

// IsCandor reports whether a command line is `candor wrap …` or `candor gateway …`, started directly or by npx, uvx or the like.
func IsCandor(line []string) bool {
	i := candorAt(line)
	return i >= 0 && (line[i+1] == "gateway" || wrappedAt(line) > 0)
}

// candorAt returns the index of the word that names Candor and is followed by one of its commands, or -1.
func candorAt(line []string) int {
	for i, word := range line[:max(0, len(line)-1)] {
		if namesCandor(word) && (line[i+1] == "wrap" || line[i+1] == "gateway") {
			return i
		}
	}
	return -1
}

// wrappedAt returns the index of the server's command after `candor wrap … --`, or -1.
func wrappedAt(line []string) int {
	i := candorAt(line)
	if i < 0 || line[i+1] != "wrap" {
		return -1
	}
	for j := i + 2; j < len(line)-1; j++ {
		if line[j] == "--" {
			return j + 1
		}
	}
	return -1
}

// namesCandor reports whether a word of a command line is the program, its npm or Python package, or its container image.
func namesCandor(word string) bool {
	return strings.HasPrefix(path.Base(strings.ReplaceAll(word, `\`, "/")), "candor")
}
