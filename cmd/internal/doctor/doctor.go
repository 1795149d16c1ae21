// Package doctor checks a set-up of Candor from end to end: the program, the configuration, the ledger and the servers.
//
// [Run] makes a list of independent checks. Each reports what it found in a sentence, with the next step if something is wrong.
// Nothing is changed or repaired. The only processes are the servers that the configuration names, unless [Options.NoStart] is
// set; none is left when Run returns.
package doctor

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// Result is the outcome of a check.
type Result string

// The results. A warning is something to know or to improve; only a failure makes the set-up unsound.
const (
	OK      Result = "ok"
	Warning Result = "warning"
	Failed  Result = "failed"
	Skipped Result = "skipped"
)

// Finding is the result of one check, for one subject if there are several.
type Finding struct {
	Check   string `json:"check"`
	Subject string `json:"subject,omitempty"` // a server, a file or an address
	Result  Result `json:"result"`
	Fault   string `json:"fault,omitempty"` // identifies the kind of problem, for scripts; set for warnings and failures
	Text    string `json:"text"`
	Next    string `json:"next,omitempty"` // what to do
}

func ok(text string) Finding      { return Finding{Result: OK, Text: text} }
func skipped(text string) Finding { return Finding{Result: Skipped, Text: text} }

func warning(fault, text, next string) Finding {
	return Finding{Result: Warning, Fault: fault, Text: text, Next: next}
}

func failed(fault, text, next string) Finding {
	return Finding{Result: Failed, Fault: fault, Text: text, Next: next}
}

// about sets the subject.
func (f Finding) about(subject string) Finding {
	f.Subject = subject
	return f
}

// Options says what to check. Getenv and Environ must be set.
type Options struct {
	Config  string // configuration file of the gateway; "" means none
	Found   bool   // Config was found in this folder and not named, so that its servers are not started
	Clients []ClientFile
	Command []string // a server to check besides the configured ones

	Ledger  string // folder of the ledger, or none; "" means that of the configuration, else the default
	Keys    string // file with the public keys of the ledger that was kept elsewhere; "" means none
	MinFree int64  // free bytes below which the disk check warns

	GUIPath string        // PATH of programs that the desktop starts; "" means that of this system
	NoStart bool          // start no server and open no connection
	Timeout time.Duration // for each server, and for the verification of the ledger

	Version    string   // of this program
	Executable string   // of this program
	Guard      []string // see [guard.Options]

	Getenv  func(string) string
	Environ []string
}

// examination is the state that checks share. Only recordCheck changes it.
type examination struct {
	Options
	gui    guiPath
	config configFile
	ledger ledgerFolder
}

// configFile is the configuration of the gateway, as far as it could be read.
type configFile struct {
	name    string
	file    *config.File // nil if it is not valid
	missing []string     // environment variables that it refers to and that are not set
	err     error
}

// ClientFile is a file in which a client lists its servers.
type ClientFile struct {
	clientconfig.File
	Start bool   // the user has named the file or the client, so that its servers may be started
	Why   string // why they are not, unless Start
}

// check is one kind of check.
type check struct {
	name string
	run  func(*examination, context.Context) []Finding
}

// checks are all checks, in the order of the report.
var checks = []check{
	{"version", (*examination).versionCheck},
	{"path", (*examination).pathCheck},
	{"config", (*examination).configCheck},
	{"environment", (*examination).environmentCheck},
	{"listen", (*examination).listenCheck},
	{"ledger-folder", (*examination).folderCheck},
	{"ledger-writable", (*examination).writableCheck},
	{"ledger-private", (*examination).privateCheck},
	{"ledger-disk", (*examination).diskCheck},
	{"ledger-record", (*examination).recordCheck},
	{"ledger-key", (*examination).keyCheck},
	{"client-file", (*examination).clientCheck},
	{"command", (*examination).commandCheck},
	{"server", (*examination).serverCheck},
}

// Names returns the names of all checks, in the order of the report.
func Names() []string {
	names := make([]string, 0, len(checks))
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}

// Run makes all checks and passes each finding to report as soon as it is known. It returns the error of ctx if that was
// cancelled; then the report is incomplete.
func Run(ctx context.Context, o Options, report func(Finding)) error {
	e := examine(o)
	for _, c := range checks {
		findings := c.run(e, ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, f := range findings {
			f.Check = c.name
			report(f)
		}
	}
	return nil
}

// examine reads the files that the checks share.
func examine(o Options) *examination {
	e := &examination{Options: o, gui: findGUIPath(o)}
	e.config = readConfig(o.Config, o.Found, o.Getenv)
	if f := e.config.file; f != nil { // the token is for clients of the gateway, and no server gets it
		e.Environ = slices.DeleteFunc(slices.Clone(o.Environ), func(pair string) bool { return f.TokenEnv != "" && strings.HasPrefix(pair, f.TokenEnv+"=") })
	}
	e.ledger = e.findLedger()
	return e
}

func one(f Finding) []Finding { return []Finding{f} }
