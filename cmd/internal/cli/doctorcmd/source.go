package doctorcmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
)

// sourceFlags are the flags that choose files of clients.
type sourceFlags struct {
	from    []string
	clients []string
	project bool
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.from, "from", nil, "JSON or TOML file in which a client lists its MCP servers; may be repeated")
	flags.StringSliceVar(&f.clients, "client", nil, "client whose files to read: "+term.JoinWords(clientconfig.IDs())+"; may be repeated")
	flags.BoolVar(&f.project, "project", false, "use the servers in files of the current folder too, see candor install")
	term.CompleteFlag(cmd, "client", clientconfig.IDs())
}

// read returns the files. Without flags they are those of all known clients. Servers in files of the current folder are started only
// with --project.
func (f *sourceFlags) read(env *term.Env, cmd *cobra.Command) ([]doctor.ClientFile, error) {
	if cmd.Flags().Changed("client") && len(f.clients) == 0 {
		return nil, term.BadInput("one of "+term.JoinWords(clientconfig.IDs()), "--client: empty")
	}
	if slices.Contains(f.from, "") {
		return nil, term.BadInput("name the file in which the client lists its MCP servers", "--from: empty")
	}
	var files []doctor.ClientFile
	for _, name := range f.from {
		files = append(files, doctor.ClientFile{File: clientconfig.ReadFile(name), Start: true})
	}
	for i := range f.clients {
		if !term.MatchFold(clientconfig.IDs(), &f.clients[i]) {
			return nil, term.Unknown("--client", f.clients[i], clientconfig.IDs())
		}
	}
	if len(f.from) > 0 && len(f.clients) == 0 {
		return files, nil
	}
	seen := map[string]bool{}
	for _, found := range clientconfig.Discover(clientconfig.LocalSystem(env.Getenv, term.AbsolutePath("."))) {
		if len(f.clients) > 0 && !slices.Contains(f.clients, found.Client.ID) {
			continue
		}
		seen[found.Client.ID] = true
		file := doctor.ClientFile{File: found, Start: len(f.clients) > 0, Why: "only in the file of a client; choose it with --client or --from"}
		if found.Project {
			file.Start, file.Why = f.project, doctor.FoundHere
		}
		files = append(files, file)
	}
	for _, id := range f.clients {
		if !seen[id] {
			return nil, term.BadInput("name the file with --from, or leave --client out; candor install lists where it looks", "--client %s: it has no configuration file here", id)
		}
	}
	return files, nil
}
