package workrail

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/candor-mcp/candor"
)

// blocker is one reason why a step cannot be completed.
type blocker struct {
	Code         string  `json:"code"`
	Pointer      pointer `json:"pointer"`
	Message      string  `json:"message"`
	SuggestedFix string  `json:"suggestedFix"`
}

// pointer names the subject of a blocker.
type pointer struct {
	Kind string `json:"kind"` // workflow_step, context_key, output, capability or session
	Step string `json:"stepId,omitempty"`
	Name string `json:"name,omitempty"`
	// Names replaces Name if there are too many subjects for one blocker each.
	Names []string `json:"names,omitempty"`
}

// The budget of a report. A report is never truncated; one that does not fit is a bug in the server.
const (
	maxBlockers     = 10
	maxMessageBytes = 512
	maxFixBytes     = 1024
)

// maxSingle is the number of keys or capabilities that get one blocker each. More share a blocker, so that a report has
// at most 10: notes, output, the user's answer, the size of the context, and three each for keys and capabilities.
const maxSingle = 3

// toDo counts the items that the blockers ask for.
func toDo(all []blocker) int {
	n := 0
	for _, b := range all {
		n += max(1, len(b.Pointer.Names))
	}
	return n
}

// joined joins names up to about limit bytes and adds the number of omitted names.
func joined(names []string, limit int) string {
	text := names[0]
	for i, name := range names[1:] {
		if len(text)+len(name)+2 > limit {
			return fmt.Sprintf("%s and %d more", text, len(names)-1-i)
		}
		text += ", " + name
	}
	return text
}

// newBlocker returns a blocker. It appends [withRetryToken] to the fix.
func newBlocker(code candor.Code, at pointer, message, fix string) blocker {
	return blocker{Code: code.Symbol(), Pointer: at, Message: oneLine(message),
		SuggestedFix: fix + withRetryToken}
}

// withRetryToken ends every fix: the token of the blocked call only replays the report.
const withRetryToken = " Then call continue_workflow with retryContinueToken from this answer, not with the token you used."

// checkReport sorts the blockers and checks them against the budget.
func checkReport(all []blocker) error {
	slices.SortStableFunc(all, func(a, b blocker) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Pointer.Name, b.Pointer.Name))
	})
	if len(all) > maxBlockers {
		return fmt.Errorf("%d blockers, at most %d fit a report", len(all), maxBlockers)
	}
	for _, b := range all {
		if len(b.Message) > maxMessageBytes {
			return fmt.Errorf("the message of %s has %d bytes, at most %d fit", b.Code, len(b.Message), maxMessageBytes)
		}
		if len(b.SuggestedFix) > maxFixBytes {
			return fmt.Errorf("the fix of %s has %d bytes, at most %d fit", b.Code, len(b.SuggestedFix), maxFixBytes)
		}
	}
	return nil
}
