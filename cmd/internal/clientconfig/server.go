package clientconfig

import (
	"path"
	"slices"
	"strings"
)

// Status says whether a server goes through Candor.
type Status string

// The states of a server.
const (
	Unprotected Status = "unprotected" // a command that can be put behind `candor wrap`
	Protected   Status = "protected"   // the command is Candor
	Broken      Status = "broken"      // the command is Candor at a path where it is not; Problem says where
	NotStdio    Status = "not stdio"   // a URL: the client connects, it starts nothing
	Managed     Status = "managed"     // an extension of the client decides the command
	Unsupported Status = "unsupported" // Problem says why
)

// Server is an entry of a configuration file.
type Server struct {
	Name    string
	Project string // the folder for which the entry is, in a file that has entries for several; else ""
	Command string
	Args    []string
	Dir     string // the folder in which the client starts the command, or ""
	EnvFile string // a file with further variables, or ""
	// Env has the variables that the entry sets, in the order of the file. The values may be secrets.
	Env       []Pair
	URL       string // may have a secret
	Headers   []Pair // may have secrets
	Status    Status
	Problem   string
	Disabled  bool // the client does not start it
	Duplicate bool // the file has another server with this name

	path   []string
	launch launch
}

// Pair is a variable or a header.
type Pair struct{ Name, Value string }

// launch is the position of a command and its arguments.
type launch struct {
	command *member
	args    *member // nil if the entry has none
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
	s.Disabled = n.word("disabled") == "true" || n.word("enabled") == "false"
	s.Dir, s.EnvFile = n.string("cwd"), n.string("envFile")
	for _, name := range []string{"httpUrl", "url", "serverUrl"} {
		if s.URL == "" {
			s.URL = n.string(name)
		}
	}
	env := n.child("env")
	s.launch = launch{command: n.get("command"), args: n.get("args")}
	if c := s.launch.command; c != nil && c.value.kind == kindTable { // an older form of Zed: {"path": …, "args": …}
		if c.value.repeats("path") || c.value.repeats("args") {
			return s.unsupported("the command has a name twice")
		}
		s.launch = launch{command: c.value.get("path"), args: c.value.get("args")}
		if inner := c.value.child("env"); inner != nil {
			env = inner
		}
	}
	var problem string
	if s.Env, problem = env.pairs(); problem != "" {
		return s.unsupported("env: " + problem)
	}
	if s.Headers, problem = n.headers(); problem != "" {
		return s.unsupported("headers: " + problem)
	}
	return s.readLaunch(n)
}

// readLaunch reads the command line and decides the status.
func (s Server) readLaunch(n *node) Server {
	l := s.launch
	if l.command != nil && s.URL != "" { // some clients decide by the type
		switch strings.ToLower(n.string("type")) {
		case "stdio", "local":
			s.URL = ""
		case "http", "sse", "streamable-http", "streamablehttp":
			l.command = nil
		default:
			return s.unsupported("the entry has both a command and a URL")
		}
	}
	switch {
	case l.command == nil && s.URL != "":
		s.Status, s.launch = NotStdio, launch{}
		return s
	case l.command == nil && (n.string("source") == "extension" || n.child("settings") != nil): // Zed
		s.Status, s.Problem = Managed, "an extension of the client starts it"
		return s
	case l.command == nil:
		return s.unsupported("the entry has neither a command nor a URL")
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
	switch line := s.Line(); {
	case IsCandor(line):
		s.Status = Protected
	case candorAt(line) >= 0:
		return s.unsupported("no -- and command of a server follow candor wrap")
	default:
		s.Status = Unprotected
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

// wrapped reports whether the command is Candor, also if it is missing.
func (s Server) wrapped() bool { return s.Status == Protected || s.Status == Broken }

// string returns the value of a member that is a string, or "".
func (n *node) string(name string) string {
	if v := n.child(name); v != nil && v.kind == kindString {
		return v.text
	}
	return ""
}

// word returns the value of a member that is a number, a boolean or null, as written, or "".
func (n *node) word(name string) string {
	if v := n.child(name); v != nil && v.kind == kindOther {
		return v.text
	}
	return ""
}

// pairs returns the members of a table of strings. Numbers and booleans become strings, as clients do; null is an empty one.
func (n *node) pairs() (list []Pair, problem string) {
	if n == nil || n.kind == kindOther && n.text == "null" {
		return nil, ""
	}
	if n.kind != kindTable {
		return nil, "not an object"
	}
	for _, m := range n.members {
		if m.value.kind != kindString && m.value.kind != kindOther {
			return nil, quoted(m.name) + " is not a string"
		}
		p := Pair{m.name, m.value.text}
		if m.value.kind == kindOther && p.Value == "null" {
			p.Value = ""
		}
		if i := slices.IndexFunc(list, func(q Pair) bool { return q.Name == p.Name }); i >= 0 {
			list[i] = p // the last one counts
			continue
		}
		list = append(list, p)
	}
	return list, ""
}

// headers returns the headers for a URL. Codex has other names for them, and refers to variables by their names alone.
func (n *node) headers() (list []Pair, problem string) {
	for _, name := range []string{"headers", "http_headers", "env_http_headers"} {
		found, problem := n.child(name).pairs()
		if problem != "" {
			return nil, problem
		}
		for _, p := range found {
			if name == "env_http_headers" {
				p.Value = "${" + p.Value + "}"
			}
			list = append(list, p)
		}
	}
	if token := n.string("bearer_token_env_var"); token != "" {
		list = append(list, Pair{"Authorization", "Bearer ${" + token + "}"})
	}
	return list, ""
}

// IsCandor reports whether a command line is `candor wrap … -- COMMAND` or `candor gateway …`, started directly or by npx, uvx or
// the like.
func IsCandor(line []string) bool {
	i := candorAt(line)
	return i >= 0 && (line[i+1] == "gateway" || wrappedAt(line) > 0)
}

// Unwrap returns the command line of the server behind `candor wrap`, and the program that starts Candor. If the line is not
// wrapped, program is "".
func Unwrap(line []string) (server []string, program string) {
	if at := wrappedAt(line); at > 0 {
		return line[at:], line[0]
	}
	return line, ""
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

// namesCandor reports whether a word of a command line is the program, its npm or Python package, or its container image. The
// name of the file may have a version or a system behind it.
func namesCandor(word string) bool {
	return strings.HasPrefix(path.Base(strings.ReplaceAll(word, `\`, "/")), "candor")
}
