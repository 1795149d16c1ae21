// Package realservers holds our gateway against servers that other people have written and published. Each is asked the same
// questions directly and through the gateway: a failure must gain the envelope, a success must arrive as the same bytes.
//
// The servers are packages of npm, chosen because they run without credentials and without a network. They are asked only what
// is safe: what breaks their own schemas, what does not exist, and a few things to read in a folder made for the purpose.
package realservers

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

// Server is one published server and what it may be asked.
type Server struct {
	conformance.Package

	Entry string   // the script to run, inside the package
	Args  []string // after the script; GROUND stands for the folder it may use
	Env   []string // beside the few variables that every server gets
	Ask   []Ask    // beside what is derived from its tools
	Quick bool     // asked in every run, not only in the long one
	// Careful says that a tool can do harm if it is called with arguments that the server forgets to check. Only calls without
	// any argument are derived.
	Careful bool
}

// Ask is a call of a tool with arguments that fit its schema. It may succeed or fail, but not harm.
type Ask struct {
	Tool      string
	Arguments string // a JSON object; GROUND stands for the folder that the server may use
}

// groundWord stands for the folder that a server may use, in arguments and in reports.
const groundWord = "GROUND"

// Packages are the packages of the servers, to be installed.
func Packages(servers []Server) []conformance.Package {
	var all []conformance.Package
	for _, s := range servers {
		all = append(all, s.Package)
	}
	return all
}

// Quick returns the few servers that are asked in every run.
func Quick() []Server {
	var few []Server
	for _, s := range Servers {
		if s.Quick {
			few = append(few, s)
		}
	}
	return few
}

// Command is the command line that runs the server in that folder. The error is a [conformance.MissingError] if it is not there.
func (s Server) Command(ctx context.Context, box conformance.Toolbox, ground string) ([]string, error) {
	node, err := box.Node(ctx)
	if err != nil {
		return nil, err
	}
	modules, err := box.Modules(s.Package)
	if err != nil {
		return nil, err
	}
	line := []string{node, filepath.Join(modules, filepath.FromSlash(s.Name), filepath.FromSlash(s.Entry))}
	for _, arg := range s.Args {
		line = append(line, strings.ReplaceAll(arg, groundWord, ground))
	}
	return line, nil
}

// cases turns what the server may be asked into requests.
func (s Server) cases(ground string) []Case {
	var all []Case
	for _, ask := range s.Ask {
		arguments := strings.ReplaceAll(ask.Arguments, groundWord, ground)
		all = append(all, callCase("call", ask.Tool, json.RawMessage(arguments), ""))
	}
	return all
}
