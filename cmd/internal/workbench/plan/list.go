package plan

import (
	"github.com/candor-mcp/candor"
)

// Summary is a plan in a list. Status is APPROVED only if the plan is approved, regardless of its header.
type Summary struct {
	Hash    string   `json:"hash"`
	Title   string   `json:"title,omitempty"`
	Status  Status   `json:"status"`
	Scope   []string `json:"scope,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

// Listing is the list of the plans of a workspace, possibly shortened.
type Listing struct {
	Plans []Summary `json:"plans"`
	More  int       `json:"more,omitempty"` // plans that were left out
}

// List returns the plans sorted by hash, with their problems. Beyond a thousand plans, plans are only counted.
func (s *Store) List() (Listing, error) {
	names, err := s.names()
	if err != nil {
		return Listing{}, err
	}
	list := Listing{Plans: []Summary{}}
	for _, name := range names {
		hash := hashOfName(name)
		switch {
		case hash == "": // not a plan
		case len(list.Plans) >= maxListed:
			list.More++
		default:
			list.Plans = append(list.Plans, s.summary(hash))
		}
	}
	return list, nil
}

func (s *Store) summary(hash string) Summary {
	summary := Summary{Hash: hash, Status: StatusProposed}
	stored, err := s.read(hash)
	if err != nil {
		_, summary.Problem = refusal(err)
		return summary
	}
	stored = s.judge(stored)
	summary.Title, summary.Scope = stored.Plan.Title, stored.Plan.Scope
	if stored.Approved() {
		summary.Status = StatusApproved
		return summary
	}
	if stored.reason != "no_record" { // a proposal without a record is normal
		summary.Problem = stored.Refusal
	}
	return summary
}

// refusal returns the reason and the message of an error.
func refusal(err error) (reason, sentence string) {
	e := candor.From(err)
	if e.Details().Get("reason").Decode(&reason) != nil {
		reason = "unreadable"
	}
	return reason, e.Message()
}
