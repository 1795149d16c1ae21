package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
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

// wrap returns the file with the command line `candor wrap --name ENTRY -- LINE` for some of its servers, in the order of the file. An entry
// without arguments gets the text of newArgs, which unwrap recognizes; arguments that were empty are written with other spaces. A
// broken server gets another command for Candor; flags of wrap and the server's own command stay.
func (c *Config) wrap(servers []Server, candor []string) ([]byte, error) {
	if c.client.hook != nil && servers[0].Status != Broken {
		return c.addHook(candor)
	}
	var edits, lasting []edit // those that unwrap does not undo, of candor gateway and of a hook
	for _, s := range servers {
		if s.Status == NotStdio {
			edits = append(edits, c.bridgeEdits(s, candor)...)
			continue
		}
		command, words := s.launch.command.value, allQuoted(candor)
		if s.Status != Broken {
			words = append(words, allQuoted(s.wrapWords())...)
		}
		added := words[1:]
		if s.Status != Broken && command.kind != kindArray {
			added = append(added, c.text(command)) // the literal as the user wrote it
		}
		one := []edit{{command.start, command.end, words[0]}}
		switch {
		case command.kind == kindArray && s.Status == Broken:
			one = []edit{{command.items[0].start, command.items[0].end, strings.Join(words, ", ")}}
		case command.kind == kindArray:
			one = []edit{c.prepend(command, words)}
		case len(added) == 0:
		case s.launch.args == nil:
			one = append(one, edit{command.end, command.end, c.newArgs(s.launch.command, added)})
		default:
			one = append(one, c.prepend(s.launch.args.value, added))
		}
		edits = append(edits, one...)
		if s.Status == Broken && wrappedAt(s.Line()) < 0 {
			lasting = append(lasting, one...)
		}
	}
	out := apply(c.src, edits)
	return out, c.verify(servers, out, candor, lasting)
}

// wrapWords returns the words to put between Candor and the command line of a server. The name of the entry distinguishes it in the
// ledger from others that run the same server; a name that a shell or a client could change in an argument is left out.
func (s Server) wrapWords() []string {
	if !plainName.MatchString(s.Name) || len(s.Name) > maxEntryName {
		return []string{"wrap", "--"}
	}
	return []string{"wrap", nameFlag, s.Name, "--"}
}

const (
	nameFlag     = "--name"
	maxEntryName = 100
)

var plainName = regexp.MustCompile(`^[\pL\pN@][\pL\pN ._@/:+-]*$`)

// verify checks the result of wrap: each server has the expected command, all others are as before, and unwrap gives the bytes that it
// would have given of the broken servers before.
func (c *Config) verify(servers []Server, out []byte, candor []string, lasting []edit) error {
	again, err := Parse(c.client, out)
	if err != nil {
		return fmt.Errorf("the edited file does not parse: %w", err)
	}
	if len(again.Servers) != len(c.Servers) {
		return errors.New("the edit changed the number of servers")
	}
	var now, before []Server // behind candor wrap
	left := servers
	for i, s := range again.Servers {
		line, changed := c.Servers[i].Line(), len(left) > 0 && slices.Equal(s.path, left[0].path)
		switch {
		case changed && left[0].Status == Broken:
			line = slices.Concat(candor, line[1:])
		case changed && left[0].Status == NotStdio:
			line = slices.Concat(candor, left[0].wrapWords(), bridge, []string{left[0].URL})
		case changed:
			line = slices.Concat(candor, left[0].wrapWords(), line)
		}
		if !slices.Equal(s.Line(), line) || !slices.Equal(s.path, c.Servers[i].path) {
			return fmt.Errorf("the edit does not give server %q the expected command", s.Name)
		}
		if changed && wrappedAt(line) > 0 {
			now = append(now, s)
			if left[0].Status == Broken {
				before = append(before, left[0])
			}
		}
		if changed {
			left = left[1:]
		}
	}
	undo, err := c.unwrapEdits(before, c.older)
	if err != nil {
		return err
	}
	again.older = append([]*Config{c}, c.older...)
	if got, err := again.unwrap(now); err != nil || !bytes.Equal(got, apply(c.src, append(undo, lasting...))) {
		return errors.New("the edit cannot be undone to the same bytes")
	}
	return nil
}

// unwrap returns the file with the own command line of some of its servers, the opposite of wrap.
func (c *Config) unwrap(servers []Server) ([]byte, error) {
	if c.client.hook != nil && len(servers) > 0 {
		return c.removeHook()
	}
	edits, err := c.unwrapEdits(servers, c.older)
	if err != nil {
		return nil, err
	}
	return apply(c.src, edits), nil
}

func (c *Config) unwrapEdits(servers []Server, older []*Config) (edits []edit, err error) {
	for _, s := range servers {
		at := wrappedAt(s.Line())
		if at < 0 {
			return nil, fmt.Errorf("server %q: the command is not candor wrap -- COMMAND", s.Name)
		}
		if before, was, ok := s.bridged(older); ok {
			edits = append(edits, c.unbridgeEdits(s, before, was)...)
			continue
		}
		command := s.launch.command.value
		if command.kind == kindArray {
			edits = append(edits, edit{command.items[0].start, command.items[at].start, ""})
			continue
		}
		args := s.launch.args.value
		own, last := args.items[at-1], at == len(args.items)
		edits = append(edits, edit{command.start, command.end, c.text(own)})
		switch {
		case last && c.addedArgs(s):
			edits = append(edits, edit{command.end, args.end, ""})
		case last && args.block:
			return nil, fmt.Errorf("server %q: its arguments were changed; remove candor wrap -- by hand", s.Name)
		case args.block:
			edits = append(edits, edit{args.items[0].start, args.items[at].start, ""})
		default:
			edits = append(edits, edit{args.items[0].start, c.afterItem(own.end, last), ""})
		}
	}
	return edits, nil
}

// addedArgs reports whether the arguments of a server are written as newArgs writes them, directly behind the command.
func (c *Config) addedArgs(s Server) bool {
	args := s.launch.args.value
	var words []string
	for _, item := range args.items {
		words = append(words, c.text(item))
	}
	end := s.launch.command.value.end
	return end < args.end && string(c.src[end:args.end]) == c.newArgs(s.launch.command, words)
}

// afterItem returns the end of an item, its comma and the white space after that. White space after the last item is kept.
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

// prepend puts words before the first item of an array. They are on lines of their own if that item is. In an empty array no space
// is between them, so that addedArgs is false.
func (c *Config) prepend(array *node, words []string) edit {
	if len(array.items) == 0 {
		return edit{array.start + 1, array.start + 1, strings.Join(words, ",")}
	}
	first := array.items[0].start
	if array.block {
		next := c.lineEnd() + string(c.src[bytes.LastIndexByte(c.src[:first], '\n')+1:first])
		return edit{first, first, strings.Join(words, next) + next}
	}
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
	end := c.lineEnd()
	switch {
	case c.client.format == formatYAML && command.inline:
		return ", args: " + list
	case c.client.format == formatYAML:
		return end + gap + "args: " + list
	case c.client.format == formatTOML && command.inline:
		return ", " + command.prefix + "args = " + list
	case c.client.format == formatTOML:
		return end + strings.TrimLeft(gap, "\ufeff") + command.prefix + "args = " + list
	case alone:
		return "," + end + gap + `"args": ` + list
	}
	return `, "args": ` + list
}

// lineEnd returns the line end that the file has.
func (c *Config) lineEnd() string {
	if first := bytes.IndexByte(c.src, '\n'); first > 0 && c.src[first-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func (c *Config) text(n *node) string { return string(c.src[n.start:n.end]) }

// quoted returns a string as JSON, which is also a TOML string.
func quoted(text string) string {
	return strings.ReplaceAll(string(jsontext.AppendString(nil, text)), "\x7f", `\u007f`) // TOML allows no DEL
}

func allQuoted(words []string) []string {
	list := make([]string, 0, len(words)+4)
	for _, word := range words {
		list = append(list, quoted(word))
	}
	return list
}

// Example returns the lines of an entry that starts a server behind Candor.
func (c Client) Example(candor []string) string {
	if c.hook != nil {
		return "  " + strings.TrimSpace(c.hook.hookText(0, slices.Concat(candor, []string{"hook", c.hook.name})))
	}
	words := allQuoted(slices.Concat(candor[1:], []string{"wrap", nameFlag, "NAME", "--", "COMMAND", "ARGUMENT"}))
	list := "[" + strings.Join(words, ", ") + "]"
	switch {
	case c.format == formatTOML:
		return "  command = " + quoted(candor[0]) + "\n  args = " + list
	case c.format == formatYAML:
		return "  cmd: " + quoted(candor[0]) + "\n  args: " + list
	case c.mixed:
		return `  "command": [` + quoted(candor[0]) + ", " + list[1:]
	}
	return `  "command": ` + quoted(candor[0]) + ",\n" + `  "args": ` + list
}
