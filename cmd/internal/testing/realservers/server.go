// Package realservers tests the gateway with third-party servers. Each server is asked the same questions directly and
// through the gateway: a failure must gain the envelope, a success must arrive unchanged.
//
// The servers are npm packages that run without credentials and without a network. They are sent only safe requests:
// calls that violate their own schemas, requests for things that do not exist, and a few reads in a directory made for
// this test.
package realservers

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

// Server is one published server and the calls that it may be sent.
type Server struct {
	conformance.Package

	Entry string   // the script to run, inside the package
	Args  []string // after the script; GROUND is replaced by the directory it may use
	Env   []string // in addition to the few variables that every server gets
	Ask   []Ask    // in addition to the calls derived from its tools
	Quick bool     // asked in every run, not only with -all
	// Careful is set if a tool has dangerous effects when it is called with arguments that the server does not check.
	// Only calls without arguments are then derived.
	Careful bool
}

// Ask is a call of a tool with valid arguments. It may succeed or fail, but must be safe.
type Ask struct {
	Tool      string
	Arguments string // a JSON object; GROUND is replaced by the directory that the server may use
}

// groundWord is the placeholder for the server's directory in arguments and reports.
const groundWord = "GROUND"

// Packages returns the npm packages of the servers.
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

// Command returns the command line that runs the server in that directory. The error is a [conformance.MissingError] if
// the server is not installed.
func (s Server) Command(ctx context.Context, box conformance.Toolbox, ground string) ([]string, error) {
	node, modules, err := box.Find(ctx, s.Package)
	if err != nil {
		return nil, err
	}
	line := []string{node, filepath.Join(modules, filepath.FromSlash(s.Name), filepath.FromSlash(s.Entry))}
	for _, arg := range s.Args {
		line = append(line, strings.ReplaceAll(arg, groundWord, ground))
	}
	return line, nil
}

// cases returns the requests for the calls in Ask.
func (s Server) cases(ground string) []Case {
	var all []Case
	for _, ask := range s.Ask {
		arguments := strings.ReplaceAll(ask.Arguments, groundWord, ground)
		all = append(all, callCase("call", ask.Tool, json.RawMessage(arguments), ""))
	}
	return all
}
