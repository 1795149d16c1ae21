package config

import (
	"errors"
	"io/fs"

	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// Profile holds rules for one server, from a file that probe has written and a person has reviewed.
type Profile struct {
	Server string // its name, for people; "" if the file has none
	Rules  *gateway.Rules
}

// ReadProfile reads the file of a profile. The error is an [*Error] if the file exists but is invalid.
func ReadProfile(name string, s Source) (*Profile, error) {
	s = s.filled()
	data, err := s.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return ParseProfile(name, data)
}

// ParseProfile parses the text of a profile with that name.
func ParseProfile(name string, data []byte) (*Profile, error) {
	r := newReader(name, data, Source{}.filled())
	p, o := newProfile()
	r.document(data, "the profile", profileKeys(p, o))
	if err := r.Err(); err != nil {
		return nil, err
	}
	p.Rules = o.Rules
	return p, nil
}

func newProfile() (*Profile, *gateway.Options) {
	return &Profile{}, &gateway.Options{Rules: &gateway.Rules{}}
}

func profileKeys(p *Profile, o *gateway.Options) []key {
	return []key{
		{name: "version", needed: true, value: version(new(int)), about: "the version of this format"},
		{name: "server", value: text(&p.Server, "a name"), about: "the server that the rules are made for"},
		{name: "masks", value: masks(o), about: "which successes of a tool are failures"},
		{name: "codes", value: codes(o), about: "what the server's errors mean"},
		{name: "results", value: results(o), about: "tools whose JSON-RPC errors are returned as results with `isError`, so that a model sees them"},
		note(),
	}
}

// profile reads the file that an upstream names. Its rules come after those in the configuration, which are more specific.
func (d *draft) profile(u *Upstream) value {
	return single("a file", anyText, (*reader).fail, func(r *reader, n ast.Node, text string) {
		name, err := d.path(text)
		if err != nil {
			r.fail(n, err)
			return
		}
		p, err := ReadProfile(name, Source{Getenv: r.getenv, ReadFile: r.open})
		if inside, ok := errors.AsType[*Error](err); ok {
			for _, problem := range inside.Problems {
				r.Add(problem)
			}
			return
		}
		if err != nil {
			r.fail(n, mistake("the name is relative to the folder of this file", "the profile cannot be read: %s", behind(err)))
			return
		}
		u.Profile, d.profiles[u] = name, p.Rules
	})
}

// behind returns a file system error without the path, which the reported line already shows.
func behind(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
