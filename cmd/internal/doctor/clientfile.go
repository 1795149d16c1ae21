package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/internal/plural"
)

// clientCheck reports the files of clients, and the entries in them that cannot be read.
func (e *examination) clientCheck(context.Context) []Finding {
	if len(e.Clients) == 0 {
		return one(skipped("no file of a client was found; name one with --from, or see candor install, which lists where it looks"))
	}
	var findings []Finding
	for i := range e.Clients {
		c := &e.Clients[i]
		if c.Err != nil {
			findings = append(findings, unreadable(c))
			continue
		}
		entries := badEntries(c)
		if len(entries) == 0 {
			entries = one(ok(c.Name() + " has " + contents(c)).about(c.Name()))
		}
		findings = append(findings, entries...)
	}
	return findings
}

func unreadable(c *ClientFile) Finding {
	text, next, _ := strings.Cut(c.Err.Error(), " (hint: ")
	switch next = strings.TrimSuffix(next, ")"); {
	case next != "":
	case errors.Is(c.Err, fs.ErrNotExist) && c.Client.ID == "":
		next = "check the name after --from"
	case errors.Is(c.Err, fs.ErrNotExist):
		next = "restore the file to which this link leads, or remove the link"
	case errors.Is(c.Err, fs.ErrPermission):
		next = "check the owner and the permissions of the file and of its folder"
	default:
		next = "correct the file; the client may not be able to read it either"
	}
	return failed("client-file-invalid", c.Name()+": "+text, next).about(c.Name())
}

// contents counts the servers of a file.
func contents(c *ClientFile) string {
	wrapped, off, open := 0, 0, 0
	for i := range c.Servers {
		s := &c.Servers[i]
		if _, program := clientconfig.Unwrap(s.Line()); program != "" {
			wrapped++
		}
		if s.Disabled {
			off++
		}
		if s.Status == clientconfig.Unprotected && c.Client.ID != "" {
			open++
		}
	}
	text := fmt.Sprintf("%s, %d behind candor wrap", plural.Count(len(c.Servers), "server", "servers"), wrapped)
	if off > 0 {
		text += fmt.Sprintf(", %d disabled", off)
	}
	if open > 0 {
		text += fmt.Sprintf(", %d unprotected; see candor install", open)
	}
	return text
}

// badEntries reports each entry that cannot be read. A name that occurs twice is one problem.
func badEntries(c *ClientFile) []Finding {
	var findings []Finding
	seen := map[string]bool{}
	for i := range c.Servers {
		s := &c.Servers[i]
		id := s.Project + "\x00" + s.Name
		switch {
		case s.Status != clientconfig.Unsupported || s.Duplicate && seen[id]:
		case s.Duplicate:
			seen[id] = true
			findings = append(findings, failed("duplicate-server", fmt.Sprintf("%s has more than one server with the name %q; clients use only one of them", c.Name(), clientconfig.CleanText(s.Name)),
				"give each server its own name").about(c.Name()))
		default:
			findings = append(findings, failed("entry-invalid", fmt.Sprintf("%s: server %q was not checked: %s", c.Name(), clientconfig.CleanText(s.Name), s.Problem), "correct the entry").about(c.Name()))
		}
	}
	return findings
}

// commandCheck looks up the commands of the servers.
func (e *examination) commandCheck(context.Context) []Finding {
	var findings []Finding
	for _, s := range e.servers() {
		if len(s.line) > 0 {
			findings = append(findings, e.lookUp(s).about(s.label))
		}
	}
	if len(findings) == 0 {
		return one(skipped("no server with a command is configured"))
	}
	return findings
}

func (e *examination) lookUp(s target) Finding {
	server, program := clientconfig.Unwrap(s.line)
	if program != "" && program != "candor" {
		if _, err := lookPath(program, s.path.list); err != nil {
			return failed("wrapper-missing", fmt.Sprintf("the entry runs %s, which does not exist or cannot be executed", program),
				strings.TrimSpace(s.repair+" write the path of this program in the entry: "+e.Executable))
		}
	}
	if left := placeholder.FindString(server[0] + s.dir); left != "" {
		return skipped(unknownValue(left))
	}
	if s.adrift && isRelative(server[0]) {
		return skipped(server[0] + " is " + relativePath)
	}
	if s.noFolder() {
		return failed("folder-missing", fmt.Sprintf("the entry starts the server in %s, which is not a folder", s.dir), "create the folder, or correct cwd in the entry")
	}
	found, err := lookPath(s.inFolder(server[0]), s.path.list)
	if err == nil {
		return ok(server[0] + " is " + found)
	}
	if elsewhere, e2 := lookPath(server[0], e.Getenv("PATH")); e2 == nil && !strings.ContainsAny(server[0], `/\`) {
		return failed("command-not-on-gui-path", fmt.Sprintf("%s is not on %s, although a shell finds it", server[0], s.path.words), "write its full path in the entry: "+elsewhere)
	}
	return failed("command-missing", fmt.Sprintf("%s: the command does not exist or cannot be executed", server[0]), "install it, check the spelling, or give its full path")
}

// noFolder reports whether the folder in which the client starts the server is missing.
func (t *target) noFolder() bool {
	if t.dir == "" {
		return false
	}
	info, err := os.Stat(t.dir)
	return err != nil || !info.IsDir()
}

// isRelative reports whether a command is a path that depends on the current folder. A name without a separator is not a path.
func isRelative(command string) bool {
	return !filepath.IsAbs(command) && strings.ContainsAny(command, "/"+string(os.PathSeparator))
}

// inFolder returns a command with a relative path as seen from the folder in which it is started. A name stays as it is.
func (t *target) inFolder(command string) string {
	if t.dir == "" || !isRelative(command) {
		return command
	}
	full, err := filepath.Abs(filepath.Join(t.dir, command))
	if err != nil {
		return command
	}
	return full
}
