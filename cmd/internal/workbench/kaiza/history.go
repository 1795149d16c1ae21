package kaiza

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

// undoable reports whether a journal is of a change of files rather than of a plan.
func undoable(j workspace.Journal) bool { return ofFiles(noteOf(&j).Tool) }

func ofFiles(tool string) bool {
	switch tool {
	case "", "submit_plan", "workbench approve", "workbench revoke", "workbench unlock":
		return false
	}
	return true
}

func noteOf(j *workspace.Journal) (about note) {
	_ = json.Unmarshal(j.Note, &about) // optional
	return about
}

// PastChange is a change of files that is in the trail or whose old contents are kept.
type PastChange struct {
	ID     string        `json:"id"` // id of the call, in all its entries in the trail
	At     time.Time     `json:"at"`
	Tool   string        `json:"tool"`
	Role   string        `json:"role,omitempty"`
	By     string        `json:"by,omitempty"` // the person who undid something
	Plan   string        `json:"plan_hash,omitempty"`
	Files  []ChangedFile `json:"files"`
	Entry  string        `json:"entry,omitempty"` // the hash of its complete entry in the trail
	Undoes string        `json:"undoes,omitempty"`
	// UndoneBy is the change that undid this one, if it is in force.
	UndoneBy string `json:"undone_by,omitempty"`
	// CanUndo reports whether an undo would succeed now; WhyNot is the reason if not.
	CanUndo     bool                   `json:"can_undo"`
	WhyNot      string                 `json:"why_not,omitempty"`
	Differences []workspace.Difference `json:"differences,omitempty"`
	// State is "" for a complete change, else [Interrupted] or [NotUndone].
	State string `json:"state,omitempty"`

	past *workspace.Past
}

// ChangePage is one page of the changes of a workspace.
type ChangePage struct {
	Changes []PastChange `json:"changes"` // newest first
	// Next is the id to continue with; "" if there are no older changes.
	Next string `json:"next,omitempty"`
}

// Changes returns the changes before the one with an id, or the newest if id is "", newest first. Without a trail it
// returns the changes whose old contents are kept.
func (r *Review) Changes(ctx context.Context, before string, limit int) (ChangePage, error) {
	all, err := r.changes(ctx)
	if err != nil {
		return ChangePage{}, err
	}
	if before != "" {
		at, err := findChange(all, before)
		if err != nil {
			return ChangePage{}, err
		}
		all = all[at+1:]
	}
	page := ChangePage{Changes: append([]PastChange{}, all[:min(limit, len(all))]...)}
	if len(all) > limit {
		page.Next = all[limit-1].ID
	}
	for i := range page.Changes {
		r.judgeUndo(&page.Changes[i])
	}
	return page, nil
}

// maxPastChanges limits how many changes are held in memory; the newest are kept.
const maxPastChanges = 20_000

// changes combines the trail with the history, newest first.
func (r *Review) changes(ctx context.Context) ([]PastChange, error) {
	all, err := r.recordedChanges(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := r.keptChanges()
	if err != nil {
		return nil, err
	}
	byID := make(map[string]int, len(all))
	for i := range all {
		byID[all[i].ID] = i
	}
	for i := range kept {
		p := &kept[i]
		at, ok := byID[p.ID]
		if !ok && p.Ends() {
			continue // in progress, or interrupted, which is listed below
		}
		if !ok {
			about := noteOf(&p.Journal)
			all = append(all, PastChange{ID: p.ID, At: p.Journal.At, Tool: about.Tool, Plan: about.Plan, By: about.By, Undoes: about.Undoes})
			at = len(all) - 1
		}
		all[at].past, all[at].Files = p, journalled(&p.Journal) // the trail shortens long lists
	}
	all = append(all, r.Unfinished(ctx)...)
	slices.SortStableFunc(all, func(a, b PastChange) int { return a.At.Compare(b.At) })
	markUndone(all)
	slices.Reverse(all)
	return all, nil
}

// keptChanges returns the changes whose old contents are kept. A change moves from the journals to the history when the
// trail records it as complete. Reading the trail first, then the journals, then the history finds each such change,
// even while a server is running.
func (r *Review) keptChanges() ([]workspace.Past, error) {
	journals, err := workspace.UnfinishedPast(r.d.state)
	kept, failed := workspace.History(r.d.state)
	if err := errors.Join(err, failed); err != nil {
		return nil, candor.New(kaizacode.FileReadFailed, "The history of the workspace could not be read.", candor.WithCause(err))
	}
	return append(journals, kept...), nil
}

// markUndone sets UndoneBy, from the oldest undo to the newest: an undo that is itself undone does not count.
func markUndone(all []PastChange) {
	at := make(map[string]int, len(all))
	for i := range all {
		at[all[i].ID] = i
		undone, ok := at[all[i].Undoes]
		if !ok || all[i].Undoes == "" {
			continue
		}
		all[undone].UndoneBy = all[i].ID
		if again, ok := at[all[undone].Undoes]; ok && all[undone].Undoes != "" {
			all[again].UndoneBy = ""
		}
	}
}

// journalled returns the files in a journal.
func journalled(j *workspace.Journal) []ChangedFile {
	out := make([]ChangedFile, 0, len(j.Files)+len(j.Removed)+len(j.Folders))
	for _, f := range j.Files {
		c := ChangedFile{Path: f.Path, Before: f.Before, After: f.After, Bytes: f.SizeAfter, BytesBefore: f.SizeBefore}
		if f.ModeAfter != nil {
			c.Mode = fmt.Sprintf("%04o", *f.ModeAfter)
		}
		out = append(out, c)
	}
	for _, name := range j.Folders {
		out = append(out, ChangedFile{Path: name, Folder: "made"})
	}
	for _, f := range j.Removed {
		out = append(out, ChangedFile{Path: f.Path, Folder: "removed"})
	}
	return out
}

// recordedChanges reads the completed changes of this workspace from the trail.
func (r *Review) recordedChanges(ctx context.Context) ([]PastChange, error) {
	if r.ledger == "" {
		return nil, nil
	}
	reader, err := ledger.OpenReader(r.ledger)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, notReadable(err)
	}
	defer reader.Close() //nolint:errcheck // opened for reading
	root := candor.RootDigest(r.Root())
	keep := func(l *ledger.Line) bool {
		return l.Kind == ledger.KindComplete && bytes.Contains(l.Raw(), []byte(root))
	}
	var all []PastChange
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{Last: maxPastChanges, Keep: keep}) {
		if err != nil {
			return nil, notReadable(err)
		}
		if record, err := line.Record(); err == nil && record.WorkspaceRoot == root && record.Outcome == ledger.OutcomeOK && ofFiles(record.Tool) {
			all = append(all, fromRecord(&record))
		}
	}
	return all, ctx.Err()
}

func fromRecord(record *ledger.Record) PastChange {
	var data struct {
		Value struct {
			Files  []ChangedFile `json:"files"`
			Undoes string        `json:"undoes"`
			By     string        `json:"by"`
		} `json:"value"`
	}
	_ = json.Unmarshal(record.Data, &data) // optional
	return PastChange{ID: record.Call, At: record.Time, Tool: record.Tool, Role: record.Role, By: data.Value.By, Plan: record.PlanHash,
		Files: data.Value.Files, Undoes: data.Value.Undoes, Entry: record.Hash}
}

// minChangeID is the minimum length of an abbreviated id.
const minChangeID = 6

// findChange returns the index of the change with an id or a unique prefix of it.
func findChange(all []PastChange, id string) (int, error) {
	found := -1
	for i := range all {
		if all[i].ID == id {
			return i, nil
		}
		if len(id) < minChangeID || !strings.HasPrefix(all[i].ID, id) {
			continue
		}
		if found >= 0 {
			return -1, candor.New(kaizacode.InvalidInputValue, "Several changes have an id with this prefix.", candor.WithSuggestion("Give more of the id."))
		}
		found = i
	}
	if found < 0 {
		return -1, candor.New(kaizacode.InvalidInputValue, "The workspace has no change with this id.",
			candor.WithSuggestion("List the changes with candor workbench changes."))
	}
	return found, nil
}

// judgeUndo sets CanUndo and WhyNot.
func (r *Review) judgeUndo(c *PastChange) {
	if c.State != "" {
		c.WhyNot = unfinishedSays(c.State)
		return
	}
	if c.past == nil {
		c.WhyNot = "what was before is not kept any more"
		return
	}
	differences, err := r.d.folder.Differences(c.past)
	switch {
	case err != nil:
		c.WhyNot = candor.From(err).Message()
	case c.UndoneBy != "":
		c.WhyNot = "it is undone already"
	case len(differences) > 0:
		c.WhyNot, c.Differences = sinceThen(differences), differences
	default:
		c.CanUndo = true
	}
}

// sinceThen describes the first difference.
func sinceThen(differences []workspace.Difference) string {
	text := fmt.Sprintf("%q %s", differences[0].Path, strings.TrimSuffix(differences[0].Says, "."))
	if more := len(differences) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
