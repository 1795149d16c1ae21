package installcmd

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// lineText returns a command line for people.
func lineText(line []string) string {
	words := clientconfig.CleanLine(line)
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n\"'") {
			words[i] = strconv.Quote(word)
		}
	}
	return term.Printable(strings.Join(words, " "))
}

// detail returns the text beside the status of a server.
func detail(s clientconfig.Server) string {
	switch s.Status {
	case clientconfig.NotStdio:
		return term.Printable(clientconfig.CleanText(s.URL))
	case clientconfig.Unsupported, clientconfig.Managed, clientconfig.Broken:
		return term.Printable(s.Problem)
	case clientconfig.Protected, clientconfig.Unprotected:
	}
	return lineText(s.Line())
}

// path shortens a path below the home folder.
func (c *command) path(name string) string {
	if rest, ok := strings.CutPrefix(name, c.system.Home); ok && c.system.Home != "" && strings.ContainsAny(rest[:min(1, len(rest))], `/\`) {
		name = "~" + rest
	}
	return term.Printable(name)
}

// header prints the line above the servers of a file.
func (c *command) header(f clientconfig.File) {
	p := c.env.Colors()
	where := c.path(f.Path)
	if rel, err := filepath.Rel(c.system.Folder, f.Path); err == nil && f.Project {
		where = term.Printable(rel) + " (project)"
	}
	fmt.Fprintf(c.env.Out, "%s  %s\n", p.Bold(f.Client.Title), p.Faint(where))
}

// label is the name of a server, with the project that it is for.
func label(s clientconfig.Server) string {
	name := clientconfig.CleanText(s.Name)
	if s.Project != "" {
		name += " (" + s.Project + ")"
	}
	return term.Printable(name)
}

// list prints the files and their servers. The servers that can be chosen get numbers.
func (c *command) list(files []clientconfig.File) {
	p := c.env.Colors()
	number := 0
	for _, f := range files {
		c.header(f)
		if f.Err != nil {
			fmt.Fprintf(c.env.Out, "      %s\n", p.Bad("cannot be read: "+term.Printable(f.Err.Error())))
			continue
		}
		if len(f.Servers) == 0 {
			fmt.Fprintf(c.env.Out, "      no servers under %s\n", f.Client.Key())
		}
		width := 0
		for _, s := range f.Servers {
			width = max(width, len([]rune(label(s))))
		}
		for _, s := range f.Servers {
			mark := "  "
			if c.wanted(s) && c.mayChange(f) {
				number++
				mark = fmt.Sprintf("%2d", number)
			}
			status := term.Pad(string(s.Status), len(clientconfig.Unprotected))
			switch s.Status {
			case clientconfig.Protected:
				status = p.Good(status)
			case clientconfig.Unprotected:
				status = p.Warn(status)
			case clientconfig.Broken:
				status = p.Bad(status)
			case clientconfig.NotStdio, clientconfig.Unsupported, clientconfig.Managed:
			}
			fmt.Fprintf(c.env.Out, "  %s  %s  %s  %s\n", mark, p.Name(term.Pad(label(s), width)), status, detail(s))
		}
	}
}

// changed prints the difference that a change makes to a file.
func (c *command) changed(f clientconfig.File, r clientconfig.Result) {
	p := c.env.Colors()
	c.header(f)
	if c.shown {
		r.Changes = nil
	}
	for _, change := range r.Changes {
		fmt.Fprintf(c.env.Out, "  %s\n", p.Name(label(change.Server)))
		if change.Before != nil { // a hook is added to nothing
			fmt.Fprintf(c.env.Out, "    %s\n", p.Bad("- "+lineText(change.Before)))
		}
		if change.After != nil {
			fmt.Fprintf(c.env.Out, "    %s\n", p.Good("+ "+lineText(change.After)))
		}
	}
	c.leftAlone(f, false)
	if r.Written && r.Backup != "" {
		fmt.Fprintf(c.env.Out, "  backup: %s\n", c.path(r.Backup))
	}
	if f.Project && !c.remove && filepath.IsAbs(first(r.Changes)) {
		fmt.Fprintln(c.env.Out, "  note: this names the path of candor on this machine; for a file that others share use --command candor")
	}
}

// first returns the new command of the first change, or "".
func first(changes []clientconfig.Change) string {
	if len(changes) == 0 || len(changes[0].After) == 0 {
		return ""
	}
	return changes[0].After[0]
}

// leftAlone prints the servers of a file that --all or --client chooses and that cannot be changed, with the reason. The
// header of the file is printed first, if it was not yet.
func (c *command) leftAlone(f clientconfig.File, header bool) {
	if c.picked != nil || len(c.servers) > 0 {
		return
	}
	for _, s := range f.Servers {
		reason, next := c.immutable(s)
		if reason == "" || c.remove {
			continue
		}
		if s.Status == clientconfig.NotStdio {
			reason += "; " + next
		}
		if header {
			c.header(f)
			header = false
		}
		fmt.Fprintf(c.env.Out, "  %s\n    left alone: %s\n", c.env.Colors().Name(label(s)), term.Printable(reason))
	}
}

// places prints the main file of each client.
func (c *command) places() {
	for _, client := range clientconfig.Clients() {
		fmt.Fprintf(c.env.Out, "  %s  %s\n", term.Pad(client.Title, len("Windsurf (Devin Desktop)")), c.path(client.UserFile(c.system)))
	}
}
