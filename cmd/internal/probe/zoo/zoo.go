// Package zoo is an MCP server with every defect that we know, each in a cage of its own: to try clients, gateways and probe on.
//
// One tool shows one defect and is honest otherwise; defects that belong to the protocol and to no tool change the server as a whole.
// Which of them there are is a matter of [Options]. It is written on bare bytes, because no library would send what it sends, and it
// is deterministic: whatever alternates is counted per session.
package zoo

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/schema"
)

// Options choose what a zoo shows. The zero value shows all of it.
type Options struct {
	// Personality is the name of one of [Personalities]. "" stands for "all", or for nothing but Defects if there are any.
	Personality string
	// Defects are the ids of defects that are shown besides those of the personality.
	Defects []string
	// Upstream is the address of the HTTP service behind the tools whose names begin with up-. Without it there are no such tools.
	Upstream string
	// Deadline is how long a client is thought to wait: what answers late answers after it. 0 means [DefaultDeadline].
	Deadline time.Duration
}

// DefaultDeadline is the time after which a late answer is late.
const DefaultDeadline = 5 * time.Second

// ErrCrash is what [Serve] returns when the server has died as a defect wanted it to. A program should end with a failure then.
var ErrCrash = errors.New("the zoo has died, as it was told to")

// Check returns what is wrong with the options: a name that there is none of, or an address that is none.
func (o Options) Check() error {
	_, err := build(o)
	return err
}

// zoo is a server as the options want it. It is not changed once it is built.
type zoo struct {
	tools    []*tool
	wide     map[string]bool // the defects of the server as a whole, by id
	upstream string
	client   *http.Client
	deadline time.Duration
}

// build is the one place where options become a server.
func build(o Options) (*zoo, error) {
	z := &zoo{wide: map[string]bool{}, deadline: o.Deadline}
	if z.deadline <= 0 {
		z.deadline = DefaultDeadline
	}
	if o.Upstream != "" {
		u, err := url.Parse(o.Upstream)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, errors.New("opening the zoo: the upstream must be an http or https address")
		}
		z.upstream = strings.TrimSuffix(u.String(), "/")
		z.client = &http.Client{Timeout: z.deadline / 2}
	}
	ids, err := chosen(o)
	if err != nil {
		return nil, err
	}
	if o.Personality == PersonalityDual {
		z.tools = dualHouse()
	} else {
		z.tools = []*tool{honestTool("honest"), recordsTool()}
	}
	for _, c := range cages() {
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
	return z, z.compile()
}

// schemas keeps what was read: the same few texts are read for every zoo.
var schemas schema.Cache

// compile reads the schemas of the tools. They are our own, so that an error is a mistake of ours.
func (z *zoo) compile() error {
	for _, t := range z.tools {
		s, err := schemas.Get([]byte(t.input))
		if err != nil {
			return fmt.Errorf("reading the schema of %s: %w", t.name, err)
		}
		t.schema = s
	}
	return nil
}

// chosen returns the ids of the defects that the options ask for.
func chosen(o Options) ([]string, error) {
	var ids []string
	name := o.Personality
	if name == "" && len(o.Defects) == 0 {
		name = PersonalityAll
	}
	if name != "" {
		at := slices.IndexFunc(Personalities(), func(p Personality) bool { return p.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("opening the zoo: there is no personality %q", name)
		}
		ids = Personalities()[at].Defects
	}
	known := cages()
	for _, id := range o.Defects {
		if !slices.ContainsFunc(known, func(c cage) bool { return c.ID == id }) {
			return nil, fmt.Errorf("opening the zoo: there is no defect %q", id)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (z *zoo) tool(name string) *tool {
	for _, t := range z.tools {
		if t.name == name {
			return t
		}
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
