package installcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// chosen reports whether the flags choose servers.
func (c *command) chosen() bool { return c.all || c.hook || len(c.clients) > 0 || len(c.servers) > 0 }

// wanted reports whether the command can change a server.
func (c *command) wanted(s clientconfig.Server) bool {
	if c.remove {
		return s.Removable()
	}
	return s.Installable() || c.remote && s.CheckBridge() == nil
}

// mayChange reports whether a file may be changed: one of a project only with --project.
func (c *command) mayChange(f clientconfig.File) bool { return !f.Project || c.project }

func (c *command) clientChosen(f clientconfig.File) bool {
	return len(c.clients) == 0 || slices.Contains(c.clients, f.Client.ID)
}

// fileChosen reports whether a server of the file may be chosen. A file that cannot be read is chosen with its client.
func (c *command) fileChosen(f clientconfig.File) bool {
	if c.picked == nil {
		return c.clientChosen(f)
	}
	return slices.ContainsFunc(f.Servers, func(s clientconfig.Server) bool { return c.picked[key(f, s)] })
}

func (c *command) serverChosen(f clientconfig.File, s clientconfig.Server) bool {
	if c.picked != nil {
		return c.picked[key(f, s)]
	}
	return len(c.servers) == 0 || slices.Contains(c.servers, s.Name)
}

// key identifies a server.
func key(f clientconfig.File, s clientconfig.Server) string {
	return strings.Join([]string{f.Path, s.Project, s.Name}, "\x00")
}

// offer is what there is to choose from.
type offer struct {
	keys   []string // of the servers that can be changed, in the order of the list
	broken int      // how many of them are broken
	closed int      // servers that --project would add
}

func (c *command) offer(files []clientconfig.File) (o offer) {
	for _, f := range files {
		for _, s := range f.Servers {
			switch {
			case !c.wanted(s):
			case !c.mayChange(f):
				o.closed++
			default:
				o.keys = append(o.keys, key(f, s))
				if s.Status == clientconfig.Broken && !c.remove {
					o.broken++
				}
			}
		}
	}
	return o
}

// readAnswer shows the question that was printed, and returns the next line of the input, or "" at its end.
func (c *command) readAnswer() (string, error) {
	if err := c.env.Out.Flush(); err != nil {
		return "", err
	}
	if c.answers == nil {
		c.answers = bufio.NewReader(c.env.In)
	}
	answer, err := c.answers.ReadString('\n')
	if err != nil { // the end of the input leaves the cursor behind the question
		fmt.Fprintln(c.env.Out)
		return "", nil //nolint:nilerr // no answer is a no
	}
	return answer, nil
}

// ask reads the numbers of servers from the terminal.
func (c *command) ask(keys []string) (map[string]bool, error) {
	fmt.Fprint(c.env.Out, "\nWhich ones? Numbers, all, or Enter for none: ")
	answer, err := c.readAnswer()
	if err != nil {
		return nil, err
	}
	picked := map[string]bool{}
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		if strings.EqualFold(word, "all") {
			for _, k := range keys {
				picked[k] = true
			}
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(keys) {
			return nil, term.BadInput(fmt.Sprintf("numbers from 1 to %d, separated by spaces", len(keys)), "%q: not a number in the list; nothing was changed", word)
		}
		picked[keys[n-1]] = true
	}
	if len(picked) == 0 {
		fmt.Fprintln(c.env.Out, "Nothing was changed.")
	}
	return picked, nil
}

// checkFlags refuses clients and servers that do not exist.
func (c *command) checkFlags(files []clientconfig.File) error {
	for _, name := range []string{"client", "server"} {
		if f := c.cmd.Flags().Lookup(name); f.Changed && len(c.clients)+len(c.servers) == 0 {
			return term.BadInput("leave it out to choose none by it", "--%s: empty", name)
		}
	}
	for i := range c.clients {
		if !term.MatchFold(clientconfig.IDs(), &c.clients[i]) {
			return term.Unknown("--client", c.clients[i], clientconfig.IDs())
		}
		if err := c.checkClient(files, c.clients[i]); err != nil {
			return err
		}
	}
	var names []string
	open := map[string]bool{} // in a file that may be changed
	for _, f := range files {
		if !c.clientChosen(f) {
			continue
		}
		for _, s := range f.Servers {
			names = append(names, clientconfig.CleanText(s.Name))
			open[s.Name] = open[s.Name] || c.mayChange(f)
		}
	}
	slices.Sort(names)
	for _, name := range c.servers {
		may, ok := open[name]
		switch {
		case !ok && len(names) == 0:
			return term.BadInput("see candor install", "--server %q: the chosen clients have no servers", name)
		case !ok:
			return term.Unknown("--server", name, slices.Compact(names))
		case !may:
			return term.BadInput("add --project to change files of the current folder", "--server %q: only in a file of the project", name)
		}
	}
	return nil
}

// checkClient refuses a client without a file.
func (c *command) checkClient(files []clientconfig.File, id string) error {
	project := false
	for _, f := range files {
		if f.Client.ID == id && c.mayChange(f) {
			return nil
		}
		project = project || f.Client.ID == id
	}
	if project {
		return term.BadInput("add --project to change files of the current folder", "--client %s: has only a file of the project", id)
	}
	where := ""
	for _, known := range clientconfig.Clients() {
		if known.ID == id {
			where = known.UserFile(c.system)
		}
	}
	return term.BadInput("add a server in the client first; its file is "+c.path(where)+". candor install lists what was found", "--client %s: no configuration file", id)
}

// withoutBridge is what to do for a server with a URL that mcp-remote cannot replace.
const withoutBridge = "candor gateway can serve a URL if the server needs no log-in"

// immutable says why a server cannot be changed, and what to do, or "".
func (c *command) immutable(s clientconfig.Server) (reason, next string) {
	switch s.Status {
	case clientconfig.NotStdio:
		err := s.CheckBridge()
		switch {
		case err != nil && c.remote:
			return "not stdio: " + err.Error(), withoutBridge
		case err != nil:
			return "not stdio: the client connects to a URL", withoutBridge
		case !c.remote:
			return "not stdio: the client connects to a URL", "--remote lets the client start it through mcp-remote"
		}
	case clientconfig.Unsupported:
		return s.Problem, "correct the entry, and run the command again"
	case clientconfig.Managed:
		return s.Problem, "give the entry its own command, with candor wrap -- before it"
	case clientconfig.Protected, clientconfig.Broken:
		if c.remove && !s.Removable() {
			return "it was not made by candor install", "remove it by hand"
		}
	case clientconfig.Unprotected:
	}
	return "", ""
}

// refuseChosen reports the servers that --server names and that cannot be changed.
func (c *command) refuseChosen(files []clientconfig.File) bool {
	refused := false
	for _, f := range files {
		if !c.clientChosen(f) || !c.mayChange(f) {
			continue
		}
		for _, s := range f.Servers {
			if !slices.Contains(c.servers, s.Name) {
				continue
			}
			if reason, next := c.immutable(s); reason != "" {
				c.env.Notify(c.cmd, fmt.Sprintf("%s: server %q: %s", c.path(f.Path), s.Name, reason), next)
				refused = true
			}
		}
	}
	return refused
}

// explain reports why a file was not changed, and the lines to paste instead.
func (c *command) explain(f clientconfig.File, editor *clientconfig.Editor, err error) {
	hint := "or edit it yourself: give each server its own command and arguments, which follow -- now"
	switch {
	case c.hook && c.remove:
		hint = "or remove the hook yourself"
	case c.hook:
		hint = "or edit it yourself: add this hook\n" + f.Client.Example(editor.Candor)
	case !c.remove:
		hint = "or edit it yourself: put this in the entry of a server\n" + f.Client.Example(editor.Candor)
	}
	if errors.Is(err, fs.ErrPermission) {
		hint = "check the owner and the permissions of the file and of its folder, and run the command again, " + hint
	} else {
		hint = "correct the file and run the command again, " + hint
	}
	name := c.path(f.Path)
	if real, linkErr := filepath.EvalSymlinks(f.Path); linkErr == nil && real != f.Path {
		name += ", a link to " + c.path(real)
	}
	c.env.Notify(c.cmd, name+": "+err.Error(), hint)
}
