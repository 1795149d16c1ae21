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
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/schema"
)

// Options selects the defects. The zero value selects all.
type Options struct {
	// Personality is the name of one of [Personalities]. "" is "all", or only Defects if there are any.
	Personality string
	// Defects are the ids of further defects.
	Defects []string
	// Upstream is the URL of the HTTP service for the tools up-*. Without it there are no such tools.
	Upstream string
	// Deadline is the expected timeout of clients; late answers come after it. 0 is [DefaultDeadline].
	Deadline time.Duration
}

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
	if o.Personality == PersonalityDual {
		z.tools = dualTools()
	} else {
		z.tools = []*tool{honestTool("honest"), recordsTool()}
	}
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
	if z.upstream != "" && o.Personality != PersonalityDual {
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
func chosen(o Options) ([]string, error) {
	var ids []string
	name := o.Personality
	if name == "" && len(o.Defects) == 0 {
		name = PersonalityAll
	}
	if name != "" {
		at := slices.IndexFunc(Personalities(), func(p Personality) bool { return p.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("starting the zoo: unknown personality %q", name)
		}
		ids = Personalities()[at].Defects
	}
	known := implementations()
	for _, id := range o.Defects {
		if !slices.ContainsFunc(known, func(c implementation) bool { return c.ID == id }) {
			return nil, fmt.Errorf("starting the zoo: unknown defect %q", id)
		}
		ids = append(ids, id)
	}
	return ids, nil
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
