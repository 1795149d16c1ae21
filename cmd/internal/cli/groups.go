package cli

import "github.com/spf13/cobra"

// commandGroup is a heading of candor --help and the commands below it, by name. A name without a command is allowed.
type commandGroup struct {
	id, title string
	commands  []string
}

// commandGroups lists every visible command. Groups are assigned here by name so that the help of the whole
// program is decided in one place, and not by the packages of the commands.
var commandGroups = []commandGroup{
	{"use", "Use with your servers:", []string{"demo", "install", "uninstall", "wrap", "gateway", "hook", "init", "doctor", "config"}},
	{"assess", "Assess a server:", []string{"probe", "zoo"}},
	{"read", "Read the record of failures:", []string{"console", "ledger", "fleet", "learn", "decode", "preview", "translate", "explain", "codes"}},
	{"build", "Build servers:", []string{"workbench"}},
	{"about", "About candor:", []string{"help", "version", "completion", "man"}},
}

// groupCommands puts the commands of root below their headings. Call it after every command was added.
func groupCommands(root *cobra.Command) {
	groupOf := make(map[string]string)
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range g.commands {
			groupOf[name] = g.id
		}
	}
	for _, cmd := range root.Commands() {
		cmd.GroupID = groupOf[cmd.Name()]
	}
	root.SetHelpCommandGroupID(groupOf["help"])
	root.SetCompletionCommandGroupID(groupOf["completion"])
}
