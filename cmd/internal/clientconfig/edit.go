package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
)

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// apply makes edits that do not overlap.
func apply(src []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	done := 0
	for _, e := range edits {
		out = append(append(out, src[done:e.start]...), e.text...)
		done = e.end
	}
	return append(out, src[done:]...)
}

// wrap returns the file with the command line `candor wrap -- LINE` for some of its servers, in the order of the file. For each it
// returns the text of the arguments if the entry had none, which unwrap needs to remove them again.
func (c *Config) wrap(servers []Server, candor []string) (out []byte, added []string, err error) {
	prefix := slices.Concat(candor, []string{"wrap", "--"})
	var edits []edit
	for _, s := range servers {
		var words []string
		for _, word := range prefix[1:] {
			words = append(words, quoted(word))
		}
		command := s.launch.command.value
		words = append(words, c.text(command)) // the literal as the user wrote it
		edits = append(edits, edit{command.start, command.end, quoted(prefix[0])})
		text := ""
		if s.launch.args == nil {
			text = c.newArgs(s.launch.command, words)
			edits = append(edits, edit{command.end, command.end, text})
		} else {
			edits = append(edits, c.prepend(s.launch.args.value, words))
		}
		added = append(added, text)
	}
	out = apply(c.src, edits)
	return out, added, c.verify(servers, out, added, prefix)
}

// verify checks the result of wrap: the servers have the new command line, all others are as before, and unwrap restores the old
// bytes.
func (c *Config) verify(servers []Server, out []byte, added, prefix []string) error {
	again, err := Parse(c.client, out)
	if err != nil {
		return fmt.Errorf("the edited file does not parse: %w", err)
	}
	if len(again.Servers) != len(c.Servers) {
		return errors.New("the edit changed the number of servers")
	}
	var changed []Server
	for i, now := range again.Servers {
		line := c.Servers[i].Line()
		if n := len(changed); n < len(servers) && slices.Equal(now.path, servers[n].path) {
			line = slices.Concat(prefix, line)
			changed = append(changed, now)
		}
		if !slices.Equal(now.Line(), line) || !slices.Equal(now.path, c.Servers[i].path) {
			return fmt.Errorf("the edit does not give server %q the expected command", now.Name)
		}
	}
	if back, err := again.unwrap(changed, added); err != nil || !bytes.Equal(back, c.src) {
		return errors.New("the edit cannot be undone to the same bytes")
	}
	return nil
}

// unwrap returns the file with the own command line of some of its servers, the opposite of wrap.
func (c *Config) unwrap(servers []Server, added []string) ([]byte, error) {
	var edits []edit
	for i, s := range servers {
		at := wrappedAt(s.Line())
		if at < 0 {
			return nil, fmt.Errorf("server %q: the command is not candor wrap -- COMMAND", s.Name)
		}
		args := s.launch.args.value
		command := s.launch.command.value
		own, last := args.items[at-1], at == len(args.items)
		edits = append(edits, edit{command.start, command.end, c.text(own)})
		if c.endsWith(s, added[i]) && last {
			edits = append(edits, edit{args.end - len(added[i]), args.end, ""})
		} else {
			edits = append(edits, edit{args.items[0].start, c.afterItem(own.end, last), ""})
		}
	}
	return apply(c.src, edits), nil
}

// endsWith reports whether the arguments of a server, with what is before them, are the text that wrap has added. They are not if
// the user has edited them.
func (c *Config) endsWith(s Server, text string) bool {
	if text == "" || s.launch.args == nil {
		return false
	}
	end := s.launch.args.value.end
	return end >= len(text) && string(c.src[end-len(text):end]) == text
}

// afterItem returns the end of an item, its comma and the white space behind it. White space after the last item is kept.
func (c *Config) afterItem(end int, last bool) int {
	rest := c.src[end:]
	gap := len(rest) - len(bytes.TrimLeft(rest, blanks))
	if gap == len(rest) || rest[gap] != ',' {
		return end
	}
	end += gap + 1
	if !last {
		rest = c.src[end:]
		end += len(rest) - len(bytes.TrimLeft(rest, blanks))
	}
	return end
}

const blanks = " \t\r\n"

// prepend puts words before the first item of an array. They are on lines of their own if that item is.
func (c *Config) prepend(array *node, words []string) edit {
	if len(array.items) == 0 {
		return edit{array.start + 1, array.start + 1, strings.Join(words, ", ")}
	}
	first := array.items[0].start
	gap := string(c.src[array.start+1 : first])
	if strings.Trim(gap, blanks) != "" || !strings.Contains(gap, "\n") {
		gap = " "
	}
	return edit{first, first, strings.Join(words, ","+gap) + "," + gap}
}

// newArgs returns the text of an args member to put behind the command.
func (c *Config) newArgs(command *member, words []string) string {
	list := "[" + strings.Join(words, ", ") + "]"
	before := c.src[:command.start]
	line := bytes.LastIndexByte(before, '\n')
	gap := string(before[line+1:])
	alone := line >= 0 && strings.Trim(gap, " \t") == ""
	end := "\n"
	if first := bytes.IndexByte(c.src, '\n'); first > 0 && c.src[first-1] == '\r' {
		end = "\r\n"
	}
	switch {
	case c.client.toml && command.inline:
		return ", " + command.prefix + "args = " + list
	case c.client.toml:
		return end + strings.TrimLeft(gap, "\ufeff") + command.prefix + "args = " + list
	case alone:
		return "," + end + gap + `"args": ` + list
	}
	return `, "args": ` + list
}

func (c *Config) text(n *node) string { return string(c.src[n.start:n.end]) }

// find returns the server at a path.
func (c *Config) find(at []string) (Server, bool) {
	for _, s := range c.Servers {
		if slices.Equal(s.path, at) {
			return s, true
		}
	}
	return Server{}, false
}

// quoted returns a string as JSON, which is also a TOML string.
func quoted(text string) string {
	return strings.ReplaceAll(string(jsontext.AppendString(nil, text)), "\x7f", `\u007f`) // TOML allows no DEL
}

// Example returns the lines of an entry that starts a server behind Candor.
func (c Client) Example(candor []string) string {
	var words []string
	for _, word := range slices.Concat(candor[1:], []string{"wrap", "--", "COMMAND", "ARGUMENT"}) {
		words = append(words, quoted(word))
	}
	list := "[" + strings.Join(words, ", ") + "]"
	if c.toml {
		return "  command = " + quoted(candor[0]) + "\n  args = " + list
	}
	return `  "command": ` + quoted(candor[0]) + ",\n" + `  "args": ` + list
}
