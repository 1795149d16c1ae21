// Package zoo is an MCP server with known defects, for tests of clients, gateways and probe.
//
// Each tool has one defect and is correct otherwise; defects of the protocol change the server as a whole. [Options] selects the defects. It
// writes bytes directly, because no library would send such messages, and it is deterministic: alternating answers are counted per session.
package zoo

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/schema"
)

// Options selects the defects. The zero value selects all.
type Options struct {
	// Defects are the ids of the defects, or patterns such as masked-*. None selects all that can be shown together; [NoDefect] is none of them.
	Defects []string
	// Upstream is the URL of the HTTP service for the tools up-*. Without it there are no such tools.
	Upstream string
	// Deadline is the expected timeout of clients; late answers come after it. 0 is [DefaultDeadline].
	Deadline time.Duration
}

// NoDefect is the value of [Options.Defects] for a server without defects.
const NoDefect = "none"

// DefaultDeadline is the default of [Options.Deadline].
const DefaultDeadline = 5 * time.Second

// ErrCrash is returned by [Serve] when a defect has ended the server. A program should then exit with a failure.
var ErrCrash = errors.New("the server ended because of a defect")

// Check returns an error for an unknown name or an invalid URL.
func (o Options) Check() error {
	_, err := build(o)
	return err
}

// zoo is a server. It is immutable.
type zoo struct {
	tools    []*tool
	wide     map[string]bool // defects of the server as a whole, by id
	upstream string
	client   *http.Client
	deadline time.Duration
}

// build returns a server for the options.
func build(o Options) (*zoo, error) {
	z := &zoo{wide: map[string]bool{}, deadline: cmp.Or(max(o.Deadline, 0), DefaultDeadline)}
	if o.Upstream != "" {
		u, err := url.Parse(o.Upstream)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, errors.New("starting the zoo: the upstream must be an http or https URL")
		}
		z.upstream = strings.TrimSuffix(u.String(), "/")
		z.client = &http.Client{Timeout: z.deadline / 2}
	}
	ids, err := chosen(o)
	if err != nil {
		return nil, err
	}
	z.tools = []*tool{honestTool("honest"), recordsTool()}
	for _, c := range implementations() {
		switch {
		case !slices.Contains(ids, c.ID):
		case c.Tool == "":
			z.wide[c.ID] = true
		case c.up != nil && z.upstream == "":
		default:
			z.tools = append(z.tools, c.tool())
		}
	}
	if z.upstream != "" {
		z.tools = append(z.tools, upstreamHonest())
	}
	for _, t := range z.tools {
		if t.schema, err = schemas.Get([]byte(t.input)); err != nil {
			return nil, fmt.Errorf("reading the schema of %s: %w", t.name, err)
		}
	}
	return z, nil
}

// schemas caches compiled schemas.
var schemas schema.Cache

// chosen returns the ids of the selected defects.
func chosen(o Options) (ids []string, err error) {
	if len(o.Defects) == 0 {
		return compatible(), nil
	}
	for _, pattern := range o.Defects {
		before := len(ids)
		for _, c := range implementations() {
			if match, _ := path.Match(pattern, c.ID); match {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) == before && pattern != NoDefect {
			return nil, fmt.Errorf("starting the zoo: unknown defect %q", pattern)
		}
	}
	return ids, nil
}

// compatible returns all defects, without those of the server as a whole that share a case with another.
func compatible() (ids []string) {
	var taken []string
	for _, c := range implementations() {
		if c.Tool == "" {
			if slices.ContainsFunc(c.Cases, func(name string) bool { return slices.Contains(taken, name) }) {
				continue
			}
			taken = append(taken, c.Cases...)
		}
		ids = append(ids, c.ID)
	}
	return ids
}

func (z *zoo) tool(name string) *tool {
	if i := slices.Index(z.toolNames(), name); i >= 0 {
		return z.tools[i]
	}
	return nil
}

func (z *zoo) toolNames() []string {
	names := make([]string, len(z.tools))
	for i, t := range z.tools {
		names[i] = t.name
	}
	return names
}
