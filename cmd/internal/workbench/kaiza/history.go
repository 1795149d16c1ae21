package kaiza

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// ofPlans lists the tools that change plans rather than files.
var ofPlans = []string{"", "submit_plan", "workbench approve", "workbench revoke"}

func noteOf(j *workspace.Journal) (about note) {
	_ = json.Unmarshal(j.Note, &about) // optional
	return about
}

// PastChange is a complete change of files, with their old contents.
type PastChange struct {
	ID     string        `json:"id"` // id of the call, in all its entries in the trail
	At     time.Time     `json:"at"`
	Tool   string        `json:"tool"`
	By     string        `json:"by,omitempty"` // the person that undid something
	Plan   string        `json:"plan_hash,omitempty"`
	Files  []ChangedFile `json:"files"`
	Undoes string        `json:"undoes,omitempty"`
	// UndoneBy is the change that undid this one, if it is in force.
	UndoneBy string `json:"undone_by,omitempty"`

	past *workspace.PastChange
}

// Changes returns the changes of the workspace, newest first.
func (r *Review) Changes() ([]PastChange, error) {
	kept, err := workspace.History(r.d.state)
	if err != nil {
		return nil, candor.New(kaizacode.FileReadFailed, "The history of the workspace could not be read.", candor.WithCause(err))
	}
	all, undone := make([]PastChange, 0, len(kept)), map[string]string{}
	for i := range kept {
		p := &kept[i]
		about := noteOf(&p.Journal)
		if about.Undoes != "" && undone[p.ID] == "" { // an undo that is itself undone does not count
			undone[about.Undoes] = p.ID
		}
		c := PastChange{ID: p.ID, At: p.At, Tool: about.Tool, By: about.By, Plan: about.Plan, Undoes: about.Undoes, UndoneBy: undone[p.ID], past: p}
		for _, f := range p.Files {
			c.Files = append(c.Files, ChangedFile{Path: f.Path, Before: f.Before, After: f.After, Bytes: f.SizeAfter, BytesBefore: int64(f.SizeBefore)})
		}
		all = append(all, c)
	}
	return all, nil
}

// minChangeID is the minimum length of an abbreviated id.
const minChangeID = 6

// chooseUndo returns the change with an id or a unique prefix of it. For "" it is the newest that is not an undo and not
// undone.
func chooseUndo(all []PastChange, id string) (PastChange, error) {
	if id == "" {
		if at := slices.IndexFunc(all, func(c PastChange) bool { return c.Undoes == "" && c.UndoneBy == "" }); at >= 0 {
			return all[at], nil
		}
		return PastChange{}, candor.New(kaizacode.InvalidInputValue, "The workspace has no change that could be undone.")
	}
	found := byPrefix(all, id, minChangeID, func(c PastChange) string { return c.ID })
	switch len(found) {
	case 0:
		return PastChange{}, candor.New(kaizacode.InvalidInputValue, "The workspace has no change with this id.",
			candor.WithSuggestion("List the changes with candor workbench changes."))
	case 1:
		return found[0], nil
	}
	return PastChange{}, candor.New(kaizacode.InvalidInputValue, "Several changes have an id with this prefix.", candor.WithSuggestion("Give more of the id."))
}
