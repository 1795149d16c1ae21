package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/plural"
)

// readConfig reads the configuration. Missing environment variables are collected instead of being errors, because they are a
// check of their own. One that was found leads to no file outside of its folder.
func readConfig(name string, found bool, getenv func(string) string) configFile {
	c := configFile{name: name}
	if name == "" {
		return c
	}
	source := config.Source{Getenv: func(variable string) string {
		v := getenv(variable)
		if v != "" {
			return v
		}
		if !slices.Contains(c.missing, variable) {
			c.missing = append(c.missing, variable)
		}
		return unset
	}}
	if found {
		source.ReadFile = readHere
	}
	if c.file, c.err = config.Read(name, source); c.err == nil {
		c.err = c.file.CheckReach()
	}
	return c
}

// readHere is [config.ReadFile] for a file in the current folder.
func readHere(name string) ([]byte, error) {
	root, err := os.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	data, _, err := durable.ReadIn(root, name, maxFound)
	return data, err
}

// maxFound bounds the size of a configuration that was found.
const maxFound = 1 << 20

// unset stands for the value of a variable that is not set.
const unset = "candor-doctor-unset-variable"

func (e *examination) versionCheck(context.Context) []Finding { return one(ok("candor " + e.Version)) }

func (e *examination) configCheck(context.Context) []Finding {
	c := &e.config
	switch {
	case c.name == "":
		return one(skipped("there is no candor.yaml here; only candor gateway needs one"))
	case errors.Is(c.err, fs.ErrNotExist):
		return one(failed("config-missing", c.name+" does not exist", "check the name after --config, or write one with candor init").about(c.name))
	case c.err != nil:
		return one(failed("config-invalid", oneProblem(c.err), "correct the file; candor gateway check --config "+c.name+" shows every mistake").about(c.name))
	}
	return one(ok(fmt.Sprintf("%s is valid, with %s", c.name, plural.Count(len(c.file.Upstreams), "server", "servers"))).about(c.name))
}

// oneProblem returns the first problem of a file in one line, with the number of the others.
func oneProblem(err error) string {
	inside, isFile := errors.AsType[*config.Error](err)
	if !isFile || len(inside.Problems) == 0 {
		if m, isMistake := errors.AsType[*config.Mistake](err); isMistake {
			return m.Text
		}
		return err.Error()
	}
	p := inside.Problems[0]
	text := p.Place() + ": " + p.Text
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	if more := len(inside.Problems) - 1; more > 0 {
		text += fmt.Sprintf("; and %s", plural.Count(more, "other mistake", "other mistakes"))
	}
	return text
}

func (e *examination) environmentCheck(context.Context) []Finding {
	if missing := e.config.missing; len(missing) > 0 {
		return one(failed("variable-unset", "the configuration needs environment variables that are not set: "+strings.Join(missing, ", "),
			"set them where the gateway is started"))
	}
	var missing []string
	for _, c := range e.Clients {
		for _, r := range c.references() {
			if text := r.Name + " (for " + r.Value + ")"; e.Getenv(r.Name) == "" && !slices.Contains(missing, text) {
				missing = append(missing, text)
			}
		}
	}
	switch {
	case len(missing) > 0:
		return one(warning("variable-unset", "servers of clients need environment variables that are not set here: "+strings.Join(missing, ", "),
			"set them where the client is started, unless they are set there already"))
	case e.config.file == nil && len(e.Clients) == 0:
		return one(skipped("no configuration was read"))
	}
	return one(ok("every environment variable that the configuration needs is set"))
}
