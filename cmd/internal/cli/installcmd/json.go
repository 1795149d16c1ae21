package installcmd

import (
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// report is the output with --json.
type report struct {
	DryRun bool         `json:"dryRun,omitempty"`
	Files  []fileReport `json:"files"`
	// Looked has the paths that were searched, if no file was found.
	Looked []string `json:"looked,omitempty"`
}

type fileReport struct {
	Client  string         `json:"client"`
	File    string         `json:"file"`
	Project bool           `json:"project,omitempty"`
	Error   string         `json:"error,omitempty"`
	Written bool           `json:"written,omitempty"`
	Backup  string         `json:"backup,omitempty"`
	Servers []serverReport `json:"servers"`
}

type serverReport struct {
	Name    string   `json:"name"`
	Project string   `json:"project,omitempty"`
	Status  string   `json:"status"`
	Problem string   `json:"problem,omitempty"`
	Line    []string `json:"line,omitempty"`
	URL     string   `json:"url,omitempty"`
	After   []string `json:"after,omitempty"`
}

// newReport returns the report of a file and of the change to it.
func newReport(f clientconfig.File, r clientconfig.Result, err error) fileReport {
	out := fileReport{Client: f.Client.ID, File: f.Path, Project: f.Project, Written: r.Written, Backup: r.Backup, Servers: []serverReport{}}
	if err == nil {
		err = f.Err
	}
	if err != nil {
		out.Error = err.Error()
	}
	after := map[[2]string][]string{}
	for _, change := range r.Changes {
		after[[2]string{change.Server.Project, change.Server.Name}] = change.After
	}
	for _, s := range f.Servers {
		line := serverReport{Name: clientconfig.CleanText(s.Name), Project: s.Project, Status: string(s.Status), Problem: s.Problem, URL: clientconfig.CleanText(s.URL)}
		if now := s.Line(); now != nil {
			line.Line = clientconfig.CleanLine(now)
		}
		if next, ok := after[[2]string{s.Project, s.Name}]; ok {
			line.After = clientconfig.CleanLine(next)
		}
		out.Servers = append(out.Servers, line)
	}
	return out
}

func (c *command) writeReport(files []fileReport) error {
	if files == nil {
		files = []fileReport{}
	}
	out := report{DryRun: c.dryRun, Files: files}
	if len(files) == 0 {
		for _, client := range clientconfig.Clients() {
			user, project := client.Places(c.system)
			out.Looked = append(append(out.Looked, user...), project...)
		}
	}
	return term.WriteJSONLine(c.env.Out, out)
}
