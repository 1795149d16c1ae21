package clientconfig

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
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

	path    []string
	launch  launch
	ownAuth bool // the entry has settings for the log-in to a URL
}

// Pair is a variable or a header.
type Pair struct{ Name, Value string }

// launch is the position of a command and its arguments, or of a URL.
type launch struct {
	command *member // an array if it has the arguments too; the URL if the server has no command
	args    *member // nil if the entry has none
	kind    *member // the type of the entry; may be nil
}

// urlNames are the members that have the URL of a server. If an entry has several, the first of this list counts.
var urlNames = []string{"httpUrl", "url", "serverUrl", "baseUrl", "uri"}

func readServer(n *node) Server {
	var s Server
	if n.kind != kindTable {
		return s.unsupported("the entry is not an object")
	}
	for _, name := range []string{"command", "cmd", "args"} {
		if n.repeats(name) {
			return s.unsupported("the entry has " + quoted(name) + " twice")
		}
	}
	s.Disabled = n.word("disabled") == "true" || n.word("enabled") == "false"
	s.ownAuth = n.hasAuth()
	var address *member
	s.Dir, s.EnvFile = n.string("cwd"), n.string("envFile")
	addresses := 0
	for _, m := range n.members {
		if !slices.Contains(urlNames, m.name) {
			continue
		}
		addresses++
		if m.value.kind == kindString && (s.URL == "" || slices.Index(urlNames, m.name) < slices.Index(urlNames, address.name)) {
			s.URL, address = m.value.text, m
		}
	}
	env := cmp.Or(n.child("env"), n.child("environment"), n.child("envs"))
	s.launch = launch{command: cmp.Or(n.get("command"), n.get("cmd")), args: n.get("args"), kind: cmp.Or(n.get("type"), n.get("transport"))}
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
	if s.launch.command != nil || s.launch.args != nil || addresses > 1 {
		address = nil // beside a command there would be another, or another URL
	}
	if s = s.readLaunch(n); s.Status == NotStdio {
		s.launch.command, s.launch.args = address, nil
	}
	return s
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
		s.Status = NotStdio
		return s
	case l.command == nil && (n.string("source") == "extension" || n.child("settings") != nil): // Zed
		s.Status, s.Problem = Managed, "an extension of the client starts it"
		return s
	case l.command == nil && slices.Contains([]string{"builtin", "platform", "frontend", "inline_python"}, n.string("type")): // Goose
		s.Status, s.Problem = Managed, "it is a part of the client"
		return s
	case l.command == nil:
		return s.unsupported("the entry has neither a command nor a URL")
	}
	words, isList := l.command.value.strings()
	switch {
	case isList && len(words) > 0 && words[0] != "" && l.args == nil:
		s.Command, s.Args = words[0], words[1:]
	case l.command.value.kind != kindString || l.command.value.text == "":
		return s.unsupported("the command is not a string")
	default:
		s.Command = l.command.value.text
	}
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

func (s Server) lineOrURL() []string {
	if line := s.Line(); line != nil || s.URL == "" {
		return line
	}
	return []string{s.URL}
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

// candorAt returns the index of the word that is Candor and is followed by one of its commands, or -1. That is the first word, or the
// one that a launcher runs from the package.
func candorAt(line []string) int {
	i := 0
	if len(line) > 1 && program(line[0]) == "cmd" && strings.EqualFold(line[1], "/c") {
		i = 2
	}
	switch {
	case i < len(line) && slices.Contains(launchers, program(line[i])):
		return launchedAt(line, i+1)
	case isCommand(line, i) && isCandor(line[i]):
		return i
	}
	return -1
}

// launchedAt is [candorAt] behind a launcher, as in npx -y candor-mcp, or uvx --from candor-mcp candor.
func launchedAt(line []string, i int) int {
	named := false // the package was the value of a flag
	for ; i < len(line); i++ {
		switch word := line[i]; {
		case isCommand(line, i) && (isPackage(word) || named && word == "candor"):
			return i
		case isPackage(word):
			named = true
		case !strings.HasPrefix(word, "-") || strings.Contains(word, "="):
			return -1
		}
	}
	return -1
}

// isCommand reports whether a command of Candor follows the word at i.
func isCommand(line []string, i int) bool {
	return i+1 < len(line) && slices.Contains([]string{"wrap", "gateway", "hook"}, line[i+1])
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

// launchers run the program of a package.
var launchers = []string{"npx", "bunx", "uvx"}

// program returns the name of a program without its folder and the ending that Windows gives it. It is "" for a
// relative path, because the current folder decides what that is.
func program(word string) string {
	if strings.ContainsAny(word, `/\`) && !filepath.IsAbs(word) && !windowsPath.MatchString(word) {
		return ""
	}
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	return strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
}

// isPackage reports whether a word is the npm or Python package of Candor, perhaps with a version. Behind the @ npm
// also accepts the name of another package, a URL or a folder.
func isPackage(word string) bool { return packageName.MatchString(word) }

var packageName = regexp.MustCompile(`^candor-mcp(@[0-9A-Za-z.^~*+-]+)?$`)

// isCandor reports whether a command is this program, or one with its name.
func isCandor(command string) bool {
	switch program(command) {
	case "candor", "candor-mcp", "candor-cluster":
		return true
	}
	self, err := os.Executable()
	return err == nil && command == self
}

// windowsPath matches the beginning of an absolute path of Windows.
var windowsPath = regexp.MustCompile(`^([A-Za-z]:)?\\`)
