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

	"github.com/candor-mcp/candor/internal/durable"
)

// Editor changes configuration files.
type Editor struct {
	Candor []string // the command that starts Candor
	Now    func() time.Time
	DryRun bool
	// Remote lets Install replace the URLs of servers by mcp-remote, as far as [Server.CheckBridge] allows.
	Remote bool

	step func(call string) error // for tests
}

// Result is the outcome for one file.
type Result struct {
	Changes []Change
	Backup  string // path of the backup that has the old content, or ""
	Written bool
}

// Change is the new command line of one server, or its URL if it has no command.
type Change struct {
	Server        Server // as it was
	Before, After []string
}

// Install puts `candor wrap --name ENTRY` before the command of the chosen servers that are unprotected, and repairs those that are broken.
func (e *Editor) Install(ctx context.Context, f File, chosen func(Server) bool) (Result, error) {
	wanted := func(s Server) bool {
		same := s.Status == Broken && s.Command == e.Candor[0] // it would stay as it is
		return (s.Installable() && !same || e.Remote && s.CheckBridge() == nil) && chosen(s)
	}
	return e.change(ctx, f, false, wanted, func(c *Config, servers []Server) ([]byte, error) { return c.wrap(servers, e.Candor) })
}

// Installable reports whether Install changes the server.
func (s Server) Installable() bool { return s.Status == Unprotected || s.Status == Broken }

// Uninstall removes `candor wrap` from the command of the chosen servers.
func (e *Editor) Uninstall(ctx context.Context, f File, chosen func(Server) bool) (Result, error) {
	wanted := func(s Server) bool { return s.Removable() && chosen(s) }
	return e.change(ctx, f, true, wanted, (*Config).unwrap)
}

// Removable reports whether Uninstall can remove Candor from the command of the server.
func (s Server) Removable() bool { return s.wrapped() && (wrappedAt(s.Line()) > 0 || s.IsHook()) }

// IsHook reports whether the server is the hook of a client.
func (s Server) IsHook() bool { return len(s.path) > 0 && s.path[0] == "hooks" }

// changeFunc returns the file with some of its servers changed.
type changeFunc func(c *Config, servers []Server) ([]byte, error)

func (e *Editor) change(ctx context.Context, f File, undo bool, wanted func(Server) bool, edit changeFunc) (result Result, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	t, err := f.open()
	if err != nil {
		return Result{}, err
	}
	before, err := Parse(f.Client, t.data)
	if err != nil {
		return Result{}, err
	}
	before.findBroken()
	if undo {
		before.older = t.backups(f.Client)
	}
	after := before
	if servers := before.filter(wanted); len(servers) > 0 {
		out, err := edit(before, servers)
		if err != nil {
			return Result{}, err
		}
		if after, err = Parse(f.Client, out); err != nil {
			return Result{}, fmt.Errorf("the edited file does not parse: %w", err)
		}
		for _, now := range after.Servers { // both are in the order of the file
			if n := len(result.Changes); n < len(servers) && slices.Equal(now.path, servers[n].path) {
				result.Changes = append(result.Changes, Change{Server: servers[n], Before: servers[n].lineOrURL(), After: now.lineOrURL()})
			}
		}
	}
	if len(result.Changes) > 0 && t.info != nil {
		err = t.checkWritable()
	}
	if err != nil || e.DryRun {
		return result, err
	}
	return result, e.write(t, after, undo, &result)
}

// write makes a change durable, and removes what a run that was killed has left behind, also if there is no change.
func (e *Editor) write(t *target, after *Config, undo bool, result *Result) error {
	if t.info == nil {
		if len(result.Changes) == 0 {
			return nil
		}
		if err := os.MkdirAll(t.dir, 0o700); err != nil {
			return plainError(err)
		}
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // every file in it is closed already
	w := &writer{root: root, step: e.step}
	if err := w.removeTemporary(t.base); err != nil {
		return err
	}
	store := func() error { return e.replace(w, t, after, result) }
	switch {
	case len(result.Changes) == 0:
		store = func() error { return nil }
	case t.info == nil:
		store = func() error { return w.create(t.base, after.src) }
	case undo && after.isCreated() && !slices.ContainsFunc(t.backups(after.client), (*Config).isCreated): // Install has created the file
		store = func() error { return w.call("remove file", func() error { return w.root.Remove(t.base) }) }
	}
	if err := store(); err != nil {
		return err
	}
	if result.Written = len(result.Changes) > 0; !undo {
		return nil
	}
	return forget(w, t, after, result)
}

// isCreated reports whether a file has only what Install writes into a new one around the hook.
func (c *Config) isCreated() bool { return c.client.hook != nil && string(c.src) == c.client.hook.file }

// replace writes the backup and then the file: whenever the process is killed, the file has its old or its new content.
func (e *Editor) replace(w *writer, t *target, after *Config, result *Result) error {
	backup, err := w.backup(t, e.Now().UTC().Format("20060102T150405Z"))
	if err != nil {
		return fmt.Errorf("writing the backup: %w", plainError(err))
	}
	result.Backup = filepath.Join(t.dir, backup)
	err = w.replace(t.base, after.src, t, func() error {
		now, _, err := durable.ReadIn(w.root, t.base, maxFile)
		if err == nil && !bytes.Equal(now, t.data) {
			err = errors.New("another program changed the file at the same time; run the command again")
		}
		return err
	})
	return err
}

// forget removes backups that are of no use after Uninstall: those from which only the installation distinguishes the file.
func forget(w *writer, t *target, after *Config, result *Result) error {
	older := t.backups(after.client)
	obsolete, err := w.backups(t.base, func(data []byte) bool { return bytes.Equal(original(after.client, data, older), after.src) })
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
	return nil
}

// original returns the text of a file without the edits of Install, or nil. A command with flags of wrap other than the name of the entry
// is not one of those.
func original(c Client, src []byte, older []*Config) []byte {
	config, err := Parse(c, src)
	if err != nil {
		return nil
	}
	config.older = older
	servers := config.filter(func(s Server) bool {
		line := s.Line()
		own, at := candorAt(line), wrappedAt(line)
		return s.Removable() && (s.IsHook() || at == own+3 || slices.Equal(line[own+1:at], s.wrapWords()))
	})
	out, err := config.unwrap(servers)
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
