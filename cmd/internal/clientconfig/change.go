package clientconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

// Editor changes configuration files.
type Editor struct {
	State  string   // Candor's state folder; it is created if necessary
	Candor []string // the command that starts Candor
	Now    func() time.Time
	DryRun bool

	step func(call string) error // for tests
}

// Result is the outcome for one file.
type Result struct {
	Changes []Change
	Backup  string // path of the backup that has the old content, or ""
	Written bool
}

// Change is the new command line of one server.
type Change struct {
	Server        Server // as it was
	Before, After []string
}

// ErrState is part of an error of the state folder, which has nothing to do with the file.
var ErrState = errors.New("state folder")

// lockTimeout bounds the wait for another candor install.
const lockTimeout = 10 * time.Second

// Install puts `candor wrap` before the command of the chosen servers that are unprotected, and repairs those that are broken.
func (e *Editor) Install(ctx context.Context, f File, chosen func(Server) bool) (Result, error) {
	wanted := func(s Server) bool {
		same := s.Status == Broken && s.Command == e.Candor[0] // it would stay as it is
		return s.Installable() && !same && chosen(s)
	}
	return e.change(ctx, f, false, wanted, func(c *Config, servers []Server, st *state, file string) ([]byte, error) {
		broken := slices.DeleteFunc(slices.Clone(servers), func(s Server) bool { return s.Status != Broken })
		servers = slices.DeleteFunc(slices.Clone(servers), func(s Server) bool { return s.Status == Broken })
		out, added, err := c.wrap(servers, e.Candor)
		if err != nil {
			return nil, err
		}
		for i, s := range servers {
			st.set(file, s.path, added[i])
		}
		for _, s := range broken {
			if out, err = e.repairOne(c.client, out, s, st, file); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// repairOne repairs one server in the text of a file, in which others may have changed.
func (e *Editor) repairOne(c Client, src []byte, broken Server, st *state, file string) ([]byte, error) {
	config, err := Parse(c, src)
	if err != nil {
		return nil, fmt.Errorf("the edited file does not parse: %w", err)
	}
	s, ok := config.find(broken.path)
	if !ok {
		return nil, fmt.Errorf("the edit removed server %q", broken.Name)
	}
	out, added, err := config.repair(s, st.text(file, config, s), e.Candor)
	if err == nil {
		st.add(file, s.path, added)
	}
	return out, err
}

// Installable reports whether Install changes the server.
func (s Server) Installable() bool { return s.Status == Unprotected || s.Status == Broken }

// Uninstall removes `candor wrap` from the command of the chosen servers.
func (e *Editor) Uninstall(ctx context.Context, f File, chosen func(Server) bool) (Result, error) {
	wanted := func(s Server) bool { return s.Removable() && chosen(s) }
	return e.change(ctx, f, true, wanted, func(c *Config, servers []Server, st *state, file string) ([]byte, error) {
		return c.unwrap(servers, st.texts(file, c, servers))
	})
}

// Removable reports whether Uninstall can remove Candor from the command of the server.
func (s Server) Removable() bool { return s.wrapped() && wrappedAt(s.Line()) > 0 }

// changeFunc returns the file with some of its servers changed.
type changeFunc func(c *Config, servers []Server, st *state, file string) ([]byte, error)

func (e *Editor) change(ctx context.Context, f File, undo bool, wanted func(Server) bool, edit changeFunc) (result Result, err error) {
	states, release, err := e.lock(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("%w %s: %w", ErrState, e.State, plainError(err))
	}
	defer release()
	t, err := openTarget(f.Path)
	if err != nil {
		return Result{}, err
	}
	before, err := Parse(f.Client, t.data)
	if err != nil {
		return Result{}, err
	}
	before.findBroken()
	st := &state{Version: 1}
	if states != nil {
		if st, err = readState(states.root); err != nil {
			return Result{}, err
		}
	}
	after := before
	if servers := before.filter(wanted); len(servers) > 0 {
		out, err := edit(before, servers, st, t.path())
		if err != nil {
			return Result{}, err
		}
		if after, err = Parse(f.Client, out); err != nil {
			return Result{}, fmt.Errorf("the edited file does not parse: %w", err)
		}
		for _, s := range servers {
			now, _ := after.find(s.path)
			result.Changes = append(result.Changes, Change{Server: s, Before: s.Line(), After: now.Line()})
		}
	}
	if len(result.Changes) > 0 {
		err = t.checkWritable()
	}
	if err != nil || e.DryRun {
		return result, err
	}
	return result, e.write(t, after, st, states, undo, &result)
}

// lock opens the state folder and waits until no other process changes files. In a dry run it changes nothing and returns nil if
// the folder does not exist.
func (e *Editor) lock(ctx context.Context) (*writer, func(), error) {
	if e.DryRun {
		root, err := os.OpenRoot(e.State)
		if errors.Is(err, os.ErrNotExist) {
			return nil, func() {}, nil
		}
		if err != nil {
			return nil, nil, err
		}
		return &writer{root: root}, func() { _ = root.Close() }, nil
	}
	if err := os.MkdirAll(e.State, 0o700); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(e.State)
	if err != nil {
		return nil, nil, err
	}
	held, err := filelock.Wait(ctx, root, "install.lock", lockTimeout)
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return &writer{root: root, step: e.step}, func() { _, _ = held.Close(), root.Close() }, nil
}

// write makes a change durable, and removes what a run that was killed has left behind, also if there is no change.
func (e *Editor) write(t *target, after *Config, st *state, states *writer, undo bool, result *Result) error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // every file in it is closed already
	w := &writer{root: root, step: e.step}
	if err := errors.Join(w.removeTemporary(t.base), states.removeTemporary(stateName)); err != nil {
		return err
	}
	if len(result.Changes) > 0 {
		if err := e.replace(w, t, after, st, states, result); err != nil {
			return err
		}
	}
	if !undo {
		return nil
	}
	return e.forget(w, t, after, st, states, result)
}

// replace writes the backup, the state and the file, in this order: whenever the process is killed, the file has its old or its new
// content, and the new one can be undone.
func (e *Editor) replace(w *writer, t *target, after *Config, st *state, states *writer, result *Result) error {
	backup, err := w.backup(t, e.Now().UTC().Format("20060102T150405Z"))
	if err != nil {
		return fmt.Errorf("writing the backup: %w", plainError(err))
	}
	result.Backup = filepath.Join(t.dir, backup)
	if err := st.write(states); err != nil {
		return fmt.Errorf("%w: %w", ErrState, plainError(err))
	}
	err = w.replace(t.base, after.src, t.info.Mode().Perm(), t, func() error {
		now, err := w.root.ReadFile(t.base)
		if err == nil && !bytes.Equal(now, t.data) {
			err = errors.New("another program changed the file at the same time; run the command again")
		}
		return err
	})
	result.Written = err == nil
	return err
}

// forget removes backups and records that are of no use after Uninstall. A backup is of no use if the installation is all that
// distinguishes it from the file.
func (e *Editor) forget(w *writer, t *target, after *Config, st *state, states *writer, result *Result) error {
	obsolete, err := w.backups(t.base, func(data []byte) bool {
		return bytes.Equal(original(after.client, data, st, t.path()), after.src)
	})
	if err != nil {
		return err
	}
	for _, name := range obsolete {
		if err := w.call("remove", func() error { return w.root.Remove(name) }); err != nil {
			return err
		}
		if name == filepath.Base(result.Backup) {
			result.Backup = ""
		}
	}
	return e.forgetRecords(t, after, st, states)
}

// original returns the text of a file without the edits of Install, or nil. A command with flags of wrap is not one of those.
func original(c Client, src []byte, st *state, file string) []byte {
	config, err := Parse(c, src)
	if err != nil {
		return nil
	}
	servers := config.filter(func(s Server) bool {
		line := s.Line()
		return s.Removable() && wrappedAt(line) == candorAt(line)+3
	})
	out, err := config.unwrap(servers, st.texts(file, config, servers))
	if err != nil {
		return nil
	}
	return out
}

// filter returns the wanted servers, in the order of the file.
func (c *Config) filter(wanted func(Server) bool) []Server {
	var found []Server
	for _, s := range c.Servers {
		if wanted(s) {
			found = append(found, s)
		}
	}
	return found
}

func (e *Editor) forgetRecords(t *target, after *Config, st *state, states *writer) error {
	changed := false
	for _, s := range after.Servers {
		if !s.wrapped() && st.has(t.path(), s.path) {
			st.set(t.path(), s.path, "")
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return st.write(states)
}
