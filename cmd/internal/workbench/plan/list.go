package plan

import (
	"time"

	"github.com/candor-mcp/candor"
)

// Statuses in a list of plans whose approval has ended. Headers do not have them.
const (
	StatusExpired Status = "EXPIRED"
	StatusUsedUp  Status = "USED_UP"
)

// Summary is a plan in a list. Status is APPROVED only if the plan is approved, regardless of its header.
type Summary struct {
	Hash    string   `json:"hash"`
	Title   string   `json:"title,omitempty"`
	Status  Status   `json:"status"`
	Scope   []string `json:"scope,omitempty"`
	Problem string   `json:"problem,omitempty"`

	// Expires, Uses and UsesLeft are the limits of the approval; nil and 0 mean no limit.
	Expires  *time.Time `json:"expires,omitempty"`
	Uses     int        `json:"uses,omitempty"`
	UsesLeft *int       `json:"uses_left,omitempty"`
}

// Listing is the list of the plans of a workspace, possibly shortened.
type Listing struct {
	Plans []Summary `json:"plans"`
	More  int       `json:"more,omitempty"` // plans that were left out
	Junk  int       `json:"junk,omitempty"` // names in the folder that do not belong to plans
}

// List returns the plans sorted by hash, with their problems. Beyond a thousand plans or 16 MiB, plans are only counted.
func (s *Store) List() (Listing, error) {
	names, err := s.names()
	if err != nil {
		return Listing{}, err
	}
	list := Listing{Plans: []Summary{}}
	room := maxListedBytes
	for _, name := range names {
		hash := hashOfName(name)
		switch {
		case hash == "":
			list.Junk++
		case len(list.Plans) >= maxListed || room <= 0:
			list.More++
		default:
			file, err := s.file(hash)
			room -= len(file)
			list.Plans = append(list.Plans, s.summary(hash, file, err))
		}
	}
	return list, nil
}

func (s *Store) summary(hash string, file []byte, err error) Summary {
	summary := Summary{Hash: hash, Status: StatusProposed}
	var stored Stored
	if err == nil {
		stored, err = Read(file, Name(hash))
	}
	if err != nil {
		_, summary.Problem = refusal(err)
		return summary
	}
	stored = s.judge(stored)
	summary.Title, summary.Scope = stored.Plan.Title, stored.Plan.Scope
	summary.limits(stored.Approval)
	if stored.Approved() {
		summary.Status = StatusApproved
		return summary
	}
	switch stored.reason {
	case "expired":
		summary.Status = StatusExpired
	case "used_up":
		summary.Status = StatusUsedUp
	}
	if stored.reason != "no_record" { // a proposal without a record is normal
		summary.Problem = stored.Refusal
	}
	return summary
}

func (s *Summary) limits(a *Approval) {
	if a == nil {
		return
	}
	s.Expires, s.Uses = a.Expires, a.Uses
	if a.Uses > 0 {
		left := max(a.Uses-len(a.Used), 0)
		s.UsesLeft = &left
	}
}

// refusal returns the reason and the message of an error.
func refusal(err error) (reason, sentence string) {
	e := candor.From(err)
	if e.Details().Get("reason").Decode(&reason) != nil {
		reason = "unreadable"
	}
	return reason, e.Message()
}
