package clientconfig

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
)

// hook is the form in which the settings of a client have the command that it runs for a failed call.
type hook struct {
	name          string // the argument of candor hook
	event         string // the list in the table hooks
	key           string // the member with the program
	before, after string // the text of an entry around that member and the arguments
	file          string // a file without hooks
}

// hookClients are the clients with a hook that [Editor.Install] can write. Both start a program with arguments, without a shell.
func hookClients() []Client {
	return []Client{
		{ID: "claude-code", Title: "Claude Code", user: []place{{named("CLAUDE_CONFIG_DIR", inHome(".claude")), "settings.json"}},
			hook: &hook{name: "claude", event: "PostToolUseFailure", key: "command", before: `{"hooks": [{"type": "command", `, after: `}]}`, file: "{\n}\n"}},
		{ID: "copilot", Title: "GitHub Copilot CLI", user: []place{{named("COPILOT_HOME", inHome(".copilot")), "hooks/candor.json"}},
			hook: &hook{name: "copilot", event: "postToolUseFailure", key: "exec", before: `{"type": "command", `, after: `}`, file: "{\n  \"version\": 1\n}\n"}},
	}
}

// DiscoverHooks returns the file for the hook of each client that is installed, also if the file does not exist yet. Each has one
// server, which is protected if the hook is in the file.
func DiscoverHooks(s System) []File {
	var found []File
	for _, c := range hookClients() {
		dir := c.user[0].folder(s)
		if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
			continue
		}
		f := File{Client: c, Path: c.UserFile(s)}
		t, err := f.open()
		if f.Err = err; err == nil {
			f.Servers, f.Err = c.servedIn(t)
		}
		found = append(found, f)
	}
	return found
}

// readHook adds the hook as the only server.
func (c *Config) readHook() error {
	h := c.client.hook
	s := Server{Name: "failure hook", Status: Unprotected, path: []string{"hooks", h.event}}
	table := c.root.child("hooks")
	list := table.child(h.event)
	switch {
	case table != nil && table.kind != kindTable:
		return syntaxError(c.src, table.start, `"hooks" is not an object`)
	case list != nil && list.kind != kindArray:
		return syntaxError(c.src, list.start, quoted(h.event)+" is not an array")
	case list != nil:
		for _, entry := range list.items {
			one := []*node{entry}
			if inner := entry.child("hooks"); inner != nil {
				one = inner.items
			}
			for _, n := range one {
				s = s.orHook(n, h)
			}
		}
	}
	c.Servers = []Server{s}
	return nil
}

// orHook returns the server with the command of a hook, if that is Candor's.
func (s Server) orHook(n *node, h *hook) Server {
	args, ok := n.child("args").strings()
	line := append([]string{n.string(h.key)}, args...)
	if i := candorAt(line); !ok || i < 0 || line[i+1] != "hook" || s.Status == Protected {
		return s
	}
	s.Status, s.Command, s.Args = Protected, line[0], args
	s.launch = launch{command: n.get(h.key), args: n.get("args")}
	return s
}

// hookText returns the text of the hook with everything around it that a file lacks from a level on: the members of the file, those
// of the table hooks, or the entries of the list.
func (h *hook) hookText(level int, line []string) string {
	var words []string
	for _, word := range line {
		words = append(words, quoted(word))
	}
	text := h.before + quoted(h.key) + ": " + words[0] + `, "args": [` + strings.Join(words[1:], ", ") + "]" + h.after
	if level < 2 {
		text = quoted(h.event) + ": [" + text + "]"
	}
	if level < 1 {
		text = "\n  " + `"hooks": {` + text + "}"
	}
	return text
}

// hookPlaces returns the nodes at whose beginning the hook can be, the innermost last.
func (c *Config) hookPlaces() []*node {
	nodes := []*node{c.root, c.root.child("hooks"), c.root.child("hooks").child(c.client.hook.event)}
	return nodes[:max(1, slices.Index(append(nodes, nil), nil))]
}

// addHook returns the file with the hook.
func (c *Config) addHook(candor []string) ([]byte, error) {
	h := c.client.hook
	if len(bytes.TrimSpace(bytes.TrimPrefix(c.src, byteOrderMark))) == 0 {
		return nil, errors.New("the file is empty")
	}
	places := c.hookPlaces()
	at := places[len(places)-1]
	text := h.hookText(len(places)-1, slices.Concat(candor, []string{"hook", h.name}))
	if len(at.members)+len(at.items) > 0 {
		text += separator(len(places) - 1)
	}
	out := apply(c.src, []edit{{at.start + 1, at.start + 1, text}})
	again, err := Parse(c.client, out)
	if err != nil {
		return nil, err
	}
	if back, err := again.removeHook(); err != nil || !bytes.Equal(back, c.src) {
		return nil, errors.New("the edit cannot be undone to the same bytes")
	}
	return out, nil
}

// separator follows the hook before other members or entries.
func separator(level int) string { return []string{",", ", ", ", "}[level] }

// removeHook returns the file without the hook that addHook wrote.
func (c *Config) removeHook() ([]byte, error) {
	for level, at := range c.hookPlaces() {
		text := c.client.hook.hookText(level, c.Servers[0].Line())
		rest, ours := bytes.CutPrefix(c.src[at.start+1:], []byte(text))
		if ours {
			rest = bytes.TrimPrefix(rest, []byte(separator(level)))
			return append(c.src[:at.start+1:at.start+1], rest...), nil
		}
	}
	return nil, errors.New("the hook is not as candor install wrote it; remove it by hand")
}
