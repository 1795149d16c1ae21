package workrail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Retention selects the sessions to keep.
type Retention struct {
	// Before limits removal to sessions that were last changed before this time.
	Before time.Time
	// Completed limits removal to completed sessions.
	Completed bool
	// IDs lists sessions to remove regardless of state and age. Damaged sessions are removed only if they are listed.
	IDs []string
}

// Garbage lists the sessions and snapshots that a retention does not keep.
type Garbage struct {
	Sessions  []Info   `json:"sessions"`
	Snapshots []string `json:"snapshots"` // hashes of workflows that no remaining session uses
	Kept      int      `json:"kept"`      // number of sessions kept
}

// Garbage returns the sessions and snapshots that a retention does not keep. It changes nothing.
func (a *Admin) Garbage(ctx context.Context, r Retention, progress Progress) (*Garbage, error) {
	all, err := a.Sessions(ctx, progress)
	if err != nil {
		return nil, err
	}
	g := &Garbage{Sessions: []Info{}, Snapshots: []string{}}
	used, unknown := map[string]bool{}, false
	for i := range all {
		if r.removes(&all[i]) {
			g.Sessions = append(g.Sessions, all[i])
			continue
		}
		g.Kept++
		used[all[i].Hash] = true
		unknown = unknown || all[i].Hash == ""
	}
	if unknown { // a session whose first event is damaged may use any of them
		return g, nil
	}
	g.Snapshots, err = a.unused(used)
	return g, err
}

func (r *Retention) removes(i *Info) bool {
	switch {
	case len(r.IDs) > 0:
		return slices.Contains(r.IDs, i.ID)
	case i.State == StateDamaged, r.Completed && i.State != StateCompleted:
		return false
	default:
		return i.Updated.Before(r.Before)
	}
}

// unused returns the hashes of stored workflows that are not in use.
func (a *Admin) unused(used map[string]bool) ([]string, error) {
	entries, err := fs.ReadDir(a.s.snapshots.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	hashes := []string{}
	for _, e := range entries {
		hash, ok := strings.CutSuffix(e.Name(), ".json")
		if ok && e.Type().IsRegular() && !strings.HasPrefix(hash, ".") && !used[hash] {
			hashes = append(hashes, hash)
		}
	}
	return hashes, nil
}

// ErrChanged is the error for a session that was not removed because it was continued meanwhile.
var ErrChanged = errors.New("the session was continued during the removal")

// RemoveSession removes a session if it has not changed since i was read.
func (a *Admin) RemoveSession(ctx context.Context, i *Info) error {
	if i.State == StateDamaged {
		return a.s.sessions.Remove(ctx, i.ID)
	}
	err := a.s.sessions.RemoveIf(ctx, i.ID, func(v *sessionState) error {
		if !v.updated.Equal(i.Updated) || len(v.nodes) != i.Completed || len(v.blocked) != i.Attempts {
			return ErrChanged
		}
		return nil
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil // another process has removed it
	}
	return err
}

// RemoveSnapshots removes those of the stored workflows that no session uses now, and returns the number removed. No
// session is started between the check and the removal, see [snapshots.keepWhile].
func (a *Admin) RemoveSnapshots(ctx context.Context, hashes []string) (removed int, err error) {
	known := map[string]string{}
	if _, err := a.used(ctx, known); err != nil { // read most sessions without blocking the servers
		return 0, err
	}
	for _, hash := range hashes {
		gone, err := a.removeUnused(ctx, hash, known)
		if err != nil {
			return removed, fmt.Errorf("stored workflow %s: %w", hash[:min(len(hash), 12)], err)
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}

func (a *Admin) removeUnused(ctx context.Context, hash string, known map[string]string) (bool, error) {
	release, err := a.s.snapshots.hold(ctx)
	if err != nil {
		return false, err
	}
	used, err := a.used(ctx, known)
	if err != nil || used == nil || used[hash] {
		return false, errors.Join(err, release())
	}
	err = a.s.snapshots.root.Remove(snapshotName(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return false, release()
	}
	return err == nil, errors.Join(err, release())
}

// used returns the workflows that sessions use, nil if one of them is unknown. known caches the workflows of sessions
// that were read before.
func (a *Admin) used(ctx context.Context, known map[string]string) (map[string]bool, error) {
	ids, err := a.IDs()
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, id := range ids {
		if _, ok := known[id]; !ok {
			info, err := a.Session(ctx, id)
			if errors.Is(err, session.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if info.Hash == "" {
				return nil, nil //nolint:nilnil // any of them may be in use
			}
			known[id] = info.Hash
		}
		used[known[id]] = true
	}
	return used, nil
}
