package workrail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
)

// Admin gives the operator access to the state of the server. It may be used while servers use the same state.
type Admin struct {
	s   *System
	now func() time.Time
}

// OpenAdmin opens the state of o. It does not read the token keys, so that it works when they are damaged.
func OpenAdmin(o Options, now func() time.Time) (*Admin, error) {
	if o.LockWait <= 0 {
		o.LockWait = 2 * time.Second // a person has more time than an agent
	}
	s, err := open(o)
	if err != nil {
		return nil, err
	}
	return &Admin{s: s, now: now}, nil
}

// Close closes the folders.
func (a *Admin) Close() error { return a.s.Close() }

// IDs returns the ids of all sessions, sorted.
func (a *Admin) IDs() ([]string, error) { return a.s.sessions.IDs() }

// AmbiguousError is the error for a prefix that several session ids share.
type AmbiguousError struct{ IDs []string }

// Error lists some of the ids.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d sessions have ids that begin so: %s", len(e.IDs), strings.Join(e.IDs[:min(len(e.IDs), 5)], ", "))
}

// Find returns the id of the session whose id begins with prefix. The error is [session.ErrNotFound] or an
// [*AmbiguousError].
func (a *Admin) Find(prefix string) (string, error) {
	ids, err := a.IDs()
	if err != nil {
		return "", err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, strings.ToLower(prefix)) })
	switch {
	case len(ids) == 0 || prefix == "":
		return "", session.ErrNotFound
	case len(ids) > 1:
		return "", &AmbiguousError{ids}
	}
	return ids[0], nil
}

// Progress is called before item i of n is examined. It may be nil.
type Progress func(i, n int)

func (p Progress) at(i, n int) {
	if p != nil {
		p(i, n)
	}
}

// Sessions describes all sessions, most recently changed first. A session that cannot be read is listed with its
// problem.
func (a *Admin) Sessions(ctx context.Context, progress Progress) ([]Info, error) {
	ids, err := a.IDs()
	if err != nil {
		return nil, err
	}
	all := make([]Info, 0, len(ids))
	for i, id := range ids {
		progress.at(i, len(ids))
		info, err := a.Session(ctx, id)
		switch {
		case errors.Is(err, session.ErrNotFound): // removed meanwhile
			continue
		case err != nil:
			return all, err
		}
		all = append(all, info)
	}
	slices.SortStableFunc(all, func(x, y Info) int { return y.Updated.Compare(x.Updated) })
	return all, nil
}

// RotateKeys creates a new signing key and returns all keys. It creates the keyring if it does not exist.
func (a *Admin) RotateKeys() ([]token.KeyInfo, error) {
	keys, err := a.keyring()
	if err != nil {
		return nil, err
	}
	err = keys.Rotate(a.now())
	return keys.Keys(), err
}

// RetireKeys removes all keys except the signing key. It returns the remaining keys and the number of removed ones.
func (a *Admin) RetireKeys() (left []token.KeyInfo, retired int, err error) {
	keys, err := a.keyring()
	if err != nil {
		return nil, 0, err
	}
	retired, err = keys.Retire()
	return keys.Keys(), retired, err
}

// Keys returns the keys. The error is [fs.ErrNotExist] if no server has created one yet.
func (a *Admin) Keys() ([]token.KeyInfo, error) {
	if _, err := a.s.o.State.Root().Lstat(token.File); errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	keys, err := a.keyring()
	if err != nil {
		return nil, err
	}
	return keys.Keys(), nil
}

func (a *Admin) keyring() (*token.Keyring, error) { return token.Open(a.s.o.State.Root(), a.now()) }
