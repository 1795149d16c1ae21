package consolecmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/candor-mcp/candor/cmd/internal/cli/learncmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/learn"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/ledger"
)

// Profiles returns the file of the profile of a server, and how a change to it comes into force.
type Profiles func(server string) (file, next string, err error)

// ProfileFolder keeps the profile of each server in dir, named after the server.
func ProfileFolder(dir string) Profiles {
	return func(server string) (string, string, error) {
		if err := config.CheckName(server); err != nil {
			return "", "", fmt.Errorf("the name of the server cannot be the name of a file (hint: use candor learn --write FILE)")
		}
		file := filepath.Join(dir, server+".yaml")
		return file, "The rule comes into force when candor wrap --profile " + file + " is started again, or when a gateway whose configuration names the file is reloaded.", nil
	}
}

// ruleMaker makes rules as candor learn does.
type ruleMaker struct {
	dir      string // folder of the ledger
	profiles Profiles
	mu       sync.Mutex // held while a file is changed
}

var _ console.RuleMaker = (*ruleMaker)(nil)

// Propose implements [console.RuleMaker].
func (m *ruleMaker) Propose(ctx context.Context, server, tool string) ([]console.Rule, error) {
	shapes, err := m.shapes(ctx, server, tool)
	rules := make([]console.Rule, 0, len(shapes))
	for i := range shapes {
		s := &shapes[i]
		rule := console.Rule{ID: s.ID, Words: learncmd.RuleText(&s.Rule), Held: string(s.Held), Answers: s.Count, Calls: s.Calls, Codes: []string{}, Examples: []string{}}
		for _, c := range s.Codes {
			rule.Codes = append(rule.Codes, c.Name)
		}
		for _, e := range s.Examples {
			rule.Examples = append(rule.Examples, e.Text)
		}
		rules = append(rules, rule)
	}
	return rules, err
}

// shapes returns the shapes of the suspected failures of a tool that the profile does not cover.
func (m *ruleMaker) shapes(ctx context.Context, server, tool string) ([]learn.Shape, error) {
	file, _, err := m.profiles(server)
	if err != nil {
		return nil, err
	}
	data, err := readProfile(file)
	if err != nil {
		return nil, err
	}
	o := learn.Options{Server: server, Tool: tool}
	if data != nil {
		old, err := config.ParseProfile(file, data)
		if err != nil {
			return nil, err
		}
		o.Profile = old.Rules
	}
	r, err := ledger.OpenReader(m.dir)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	found, err := learn.Read(ctx, r, o)
	if err != nil {
		return nil, err
	}
	return found.Shapes, nil
}

// readProfile returns the text of a profile, or nil if the file does not exist.
func readProfile(file string) ([]byte, error) {
	data, err := config.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Preview implements [console.RuleMaker].
func (m *ruleMaker) Preview(ctx context.Context, server, tool string, ids []string) (console.Change, error) {
	file, next, err := m.profiles(server)
	if err != nil {
		return console.Change{}, err
	}
	before, err := readProfile(file)
	if err != nil {
		return console.Change{}, err
	}
	shapes, err := m.shapes(ctx, server, tool)
	if err != nil {
		return console.Change{}, err
	}
	var masks []profile.Mask
	for _, id := range ids {
		at := slices.IndexFunc(shapes, func(s learn.Shape) bool { return s.ID == id }) //nolint:gocritic // its type
		if at < 0 {
			return console.Change{}, fmt.Errorf("rule %.20q: not proposed for this tool, or the profile has it already", id)
		}
		masks = append(masks, shapes[at].Mask())
	}
	after, added, err := learn.Extend(before, server, masks)
	if err != nil {
		return console.Change{}, err
	}
	return console.Change{File: file, Before: string(before), After: string(after), Added: added, Version: versionOf(before), Next: next}, nil
}

// versionOf identifies the content of a file.
func versionOf(data []byte) string {
	if data == nil {
		return "new"
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Write implements [console.RuleMaker]. The file is replaced at once, so that no reader sees a half of it.
func (m *ruleMaker) Write(ctx context.Context, server, tool string, ids []string, version string) (console.Change, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change, err := m.Preview(ctx, server, tool, ids)
	switch {
	case err != nil:
		return change, err
	case change.Version != version:
		return change, console.ErrChanged
	case change.Added == 0:
		return change, nil
	}
	return change, term.ReplaceFile(change.File, []byte(change.After), 0o600)
}
