// Package mcpfile reads the MCP servers from a JSON file of a client, such as mcp.json. Comments and trailing commas are accepted,
// because several clients accept them. Nothing is written.
package mcpfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Server is one entry of a file. Either Command or URL is set.
type Server struct {
	Name     string
	Command  []string // with its arguments
	Dir      string
	Env      []Pair // in the order of the file
	URL      string
	Headers  []Pair
	Disabled bool // the client does not start it
}

// Pair is a variable or a header.
type Pair struct{ Name, Value string }

// File is a file that was read.
type File struct {
	Name       string
	Servers    []Server // in the order of the file
	Duplicates []string // names that occur more than once; clients use the last one and say nothing
}

const maxBytes = 8 << 20

// Read reads a file.
func Read(name string) (*File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBytes {
		return nil, fmt.Errorf("%s: not a file, or larger than %d MiB", name, maxBytes>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.Name = name
	return f, nil
}

// errNoServers is the error for a file without any of the keys that clients use.
var errNoServers = errors.New("has no key mcpServers, servers or context_servers (hint: name the file in which the client lists its MCP servers)")

// Parse parses the text of a file.
func Parse(data []byte) (*File, error) {
	top, err := object(plain(data))
	if err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	list, ok := serverList(top)
	if !ok {
		return nil, errNoServers
	}
	members, err := object(list)
	if err != nil {
		return nil, fmt.Errorf("the list of servers is not a JSON object: %w", err)
	}
	f := &File{}
	place := map[string]int{}
	for _, m := range members {
		s, err := server(m)
		if err != nil {
			return nil, fmt.Errorf("server %q: %w", m.name, err)
		}
		if i, seen := place[m.name]; seen {
			f.Duplicates = append(f.Duplicates, m.name)
			f.Servers[i] = s
			continue
		}
		place[m.name] = len(f.Servers)
		f.Servers = append(f.Servers, s)
	}
	return f, nil
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// object returns the members of a JSON object in their order, duplicates included.
func object(data []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, cannotParse(err, "it does not begin with {")
	}
	var members []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{}
		m.name, _ = t.(string) // a key is a string
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	_, err := d.Token()
	return members, err
}

func cannotParse(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errors.New(otherwise)
}

// serverList returns the object with the servers: mcpServers (most clients), servers (VS Code), context_servers (Zed), or one of
// them below mcp.
func serverList(top []member) (json.RawMessage, bool) {
	for _, key := range []string{"mcpServers", "servers", "context_servers"} {
		if v, ok := find(top, key); ok {
			return v, true
		}
	}
	if v, ok := find(top, "mcp"); ok {
		if inner, err := object(v); err == nil {
			return serverList(inner)
		}
	}
	return nil, false
}

// find returns the last member with that name, as JSON parsers do.
func find(members []member, name string) (found json.RawMessage, ok bool) {
	for _, m := range members {
		if m.name == name {
			found, ok = m.value, true
		}
	}
	return found, ok
}

// entry has the keys of all clients.
type entry struct {
	Command   json.RawMessage `json:"command"`
	Args      []string        `json:"args"`
	Cwd       string          `json:"cwd"`
	URL       string          `json:"url"`
	ServerURL string          `json:"serverUrl"`
	HTTPURL   string          `json:"httpUrl"`
	Env       json.RawMessage `json:"env"`
	Headers   json.RawMessage `json:"headers"`
	Disabled  bool            `json:"disabled"`
	Enabled   *bool           `json:"enabled"`
}

func server(m member) (Server, error) {
	s := Server{Name: m.name}
	var e entry
	if err := json.Unmarshal(m.value, &e); err != nil {
		return s, fmt.Errorf("not an entry for a server: %w", err)
	}
	s.Dir, s.Disabled = e.Cwd, e.Disabled || e.Enabled != nil && !*e.Enabled
	for _, url := range []string{e.URL, e.ServerURL, e.HTTPURL} {
		if s.URL == "" {
			s.URL = url
		}
	}
	var err error
	if len(e.Command) > 0 {
		if s.Command, err = command(&e); err != nil {
			return s, err
		}
	}
	if s.Env, err = pairs(e.Env); err != nil {
		return s, fmt.Errorf("env: %w", err)
	}
	if s.Headers, err = pairs(e.Headers); err != nil {
		return s, fmt.Errorf("headers: %w", err)
	}
	if (len(s.Command) == 0) == (s.URL == "") {
		return s, errors.New("needs one of command and url")
	}
	return s, nil
}

// command returns the command line. Older versions of Zed have an object with path, args and env.
func command(e *entry) ([]string, error) {
	var word string
	if json.Unmarshal(e.Command, &word) == nil {
		if word == "" {
			return nil, nil
		}
		return append([]string{word}, e.Args...), nil
	}
	var nested struct {
		Path string          `json:"path"`
		Args []string        `json:"args"`
		Env  json.RawMessage `json:"env"`
	}
	if err := json.Unmarshal(e.Command, &nested); err != nil || nested.Path == "" {
		return nil, errors.New("command: not a text")
	}
	if len(nested.Env) > 0 {
		e.Env = nested.Env
	}
	return append([]string{nested.Path}, nested.Args...), nil
}

// pairs returns the members of an object of texts. Numbers and booleans become texts, as clients do; null is nothing.
func pairs(data json.RawMessage) ([]Pair, error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	members, err := object(data)
	if err != nil {
		return nil, err
	}
	var list []Pair
	for _, m := range members {
		p := Pair{Name: m.name}
		if json.Unmarshal(m.value, &p.Value) != nil {
			if p.Value = string(m.value); strings.ContainsAny(p.Value[:1], "{[") {
				return nil, fmt.Errorf("%q: not a text", m.name)
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// plain replaces comments and trailing commas by spaces, and removes a byte order mark.
func plain(data []byte) []byte {
	data = bytes.Clone(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	comma := -1 // position of a comma that may be trailing
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(data) && (data[i+1] == '/' || data[i+1] == '*'):
			end := commentEnd(data, i)
			for ; i < end; i++ {
				if data[i] != '\n' {
					data[i] = ' '
				}
			}
			i--
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				data[comma] = ' '
			}
			comma = -1
		case !strings.ContainsRune(" \t\r\n", rune(c)):
			comma = -1
		}
	}
	return data
}

// commentEnd returns the position after the comment that begins at i.
func commentEnd(data []byte, i int) int {
	mark, skip := []byte("\n"), 0
	if data[i+1] == '*' {
		mark, skip = []byte("*/"), 2
	}
	if n := bytes.Index(data[i+2:], mark); n >= 0 {
		return i + 2 + n + skip
	}
	return len(data)
}

// Unwrap returns the command line of the server behind `candor wrap`, and the program that runs wrap. If the entry is not wrapped,
// wrapper is "".
func Unwrap(line []string) (server []string, wrapper string) {
	if len(line) == 0 || !isCandor(line) {
		return line, ""
	}
	wrap := false
	for i, word := range line {
		switch {
		case word == "wrap":
			wrap = true
		case word == "--" && wrap:
			return line[i+1:], line[0]
		}
	}
	return line, ""
}

// isCandor reports whether a command line runs this program: candor itself, or its package with npx or uvx.
func isCandor(line []string) bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(strings.ReplaceAll(line[0], `\`, "/"))), ".exe")
	if base == "candor" || base == "candor-mcp" {
		return true
	}
	for _, word := range line[1:] {
		if !strings.HasPrefix(word, "-") { // the first word that is not a flag is the package
			return word == "candor-mcp" || strings.HasPrefix(word, "candor-mcp@")
		}
	}
	return false
}
