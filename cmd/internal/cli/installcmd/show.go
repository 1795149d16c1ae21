package installcmd

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

// cleaner removes secrets. Paths stay: the reader is their owner.
var cleaner = redactjson.Cleaner{Policy: redact.Policy{KeepPaths: true}}

// minOpaque is the length from which an argument that looks random is not shown.
const minOpaque = 20

// packageWord matches the name of an npm package with a scope, which may have digits and look random.
var packageWord = regexp.MustCompile(`^@[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*(@[a-z0-9.^~*_-]+)?$`)

// cleanLine returns a command line without secrets. A flag such as --token hides the word after it.
func cleanLine(line []string) []string {
	hidden := make([]string, len(line))
	for i := range hidden {
		hidden[i] = redact.Placeholder
	}
	text, err := term.MarshalJSON(line)
	if err != nil {
		return hidden
	}
	v, err := wire.ParseValue(text, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return hidden
	}
	text, _ = cleaner.Append(nil, v)
	var clean []string
	if err := json.Unmarshal(text, &clean); err != nil || len(clean) != len(line) {
		return hidden
	}
	for i, word := range clean {
		if len(word) >= minOpaque && redact.Opaque(word) && !packageWord.MatchString(word) {
			clean[i] = redact.Placeholder
		}
	}
	return clean
}

// lineText returns a command line for people.
func lineText(line []string) string {
	words := cleanLine(line)
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
		return term.Printable(cleaner.Text(s.URL))
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
	if s.Project == "" {
		return term.Printable(s.Name)
	}
	return term.Printable(s.Name + " (" + s.Project + ")")
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
		fmt.Fprintf(c.env.Out, "  %s\n    %s\n    %s\n", p.Name(label(change.Server)), p.Bad("- "+lineText(change.Before)), p.Good("+ "+lineText(change.After)))
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
		reason := ""
		switch s.Status {
		case clientconfig.Unsupported, clientconfig.Managed:
			reason = s.Problem
		case clientconfig.NotStdio:
			reason = "the client connects to a URL; candor gateway can stand before it"
		case clientconfig.Protected, clientconfig.Unprotected, clientconfig.Broken:
		}
		if reason == "" || c.remove {
			continue
		}
		if header {
			c.header(f)
			header = false
		}
		fmt.Fprintf(c.env.Out, "  %s\n    left alone: %s\n", c.env.Colors().Name(label(s)), term.Printable(reason))
	}
}

// places prints where configuration files were looked for.
func (c *command) places() {
	width := 0
	for _, client := range clientconfig.Clients() {
		width = max(width, len(client.Title))
	}
	for _, client := range clientconfig.Clients() {
		title := client.Title
		for _, name := range c.placesOf(client) {
			fmt.Fprintf(c.env.Out, "  %s  %s\n", term.Pad(title, width), c.path(name))
			title = ""
		}
	}
}

// placesOf returns where the files of a client were looked for, those of the project relative to the current folder.
func (c *command) placesOf(client clientconfig.Client) []string {
	user, project := client.Places(c.system)
	for _, name := range project {
		if rel, err := filepath.Rel(c.system.Folder, name); err == nil {
			name = rel
		}
		user = append(user, name)
	}
	return user
}
