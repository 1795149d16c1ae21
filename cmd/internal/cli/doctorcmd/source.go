package doctorcmd

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/doctor"
	"github.com/candor-mcp/candor/cmd/internal/mcpfile"
)

// sourceFlags are the flags that choose files of clients.
type sourceFlags struct {
	from    []string
	clients []string
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.from, "from", nil, "JSON file in which a client lists its MCP servers; may be repeated")
	flags.StringSliceVar(&f.clients, "client", nil, "client whose files to read: "+term.JoinWords(clientIDs())+"; may be repeated")
	term.CompleteFlag(cmd, "client", clientIDs())
}

func clientIDs() []string {
	var ids []string
	for _, c := range clientconfig.Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

// read returns the files. Without flags they are those of all known clients.
func (f *sourceFlags) read(env *term.Env) ([]doctor.ClientFile, error) {
	var files []doctor.ClientFile
	for _, name := range f.from {
		file, err := mcpfile.Read(name)
		files = append(files, doctor.ClientFile{Name: name, File: file, Err: err, Start: true})
	}
	for i := range f.clients {
		if !term.MatchFold(clientIDs(), &f.clients[i]) {
			return nil, term.Unknown("--client", f.clients[i], clientIDs())
		}
	}
	if len(f.from) > 0 && len(f.clients) == 0 {
		return files, nil
	}
	seen := map[string]bool{}
	for _, found := range clientconfig.Discover(system(env)) {
		if len(f.clients) > 0 && !slices.Contains(f.clients, found.Client.ID) {
			continue
		}
		seen[found.Client.ID] = true
		files = append(files, clientFile(&found, len(f.clients) > 0))
	}
	for _, id := range f.clients {
		if !seen[id] {
			return nil, term.BadInput("name the file with --from, or leave --client out", "--client %s: it has no configuration file here", id)
		}
	}
	return files, nil
}

func system(env *term.Env) clientconfig.System {
	home := env.Getenv("HOME")
	if runtime.GOOS == "windows" {
		home = env.Getenv("USERPROFILE")
	}
	return clientconfig.System{OS: runtime.GOOS, Getenv: env.Getenv, Home: home, Folder: term.AbsolutePath(".")}
}

// clientFile returns a discovered file in the form of package mcpfile, with the headers of its URLs.
func clientFile(found *clientconfig.File, start bool) doctor.ClientFile {
	out := doctor.ClientFile{Name: found.Client.Title + ", " + found.Path, Err: found.Err, Start: start}
	if found.Err != nil {
		return out
	}
	out.File = &mcpfile.File{Name: found.Path}
	headers := map[string][]mcpfile.Pair{}
	if plain, err := mcpfile.Read(found.Path); err == nil { // a file in another format has no headers that are known
		out.File.Duplicates = plain.Duplicates
		for _, s := range plain.Servers {
			headers[s.Name+"\x00"+s.URL] = s.Headers
		}
	}
	for i := range found.Servers {
		if s := &found.Servers[i]; s.Problem == "" && (s.URL != "" || s.Command != "") {
			out.File.Servers = append(out.File.Servers, entry(s, headers[s.Name+"\x00"+s.URL]))
		}
	}
	return out
}

func entry(s *clientconfig.Server, headers []mcpfile.Pair) mcpfile.Server {
	e := mcpfile.Server{Name: s.Name, URL: s.URL, Disabled: s.Disabled, Headers: headers}
	if s.URL == "" {
		e.Command, e.Headers = s.Line(), nil
	}
	for name, value := range s.Env {
		e.Env = append(e.Env, mcpfile.Pair{Name: name, Value: value})
	}
	slices.SortFunc(e.Env, func(a, b mcpfile.Pair) int { return cmp.Compare(a.Name, b.Name) })
	return e
}
