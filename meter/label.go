package meter

import (
	"slices"
	"sync"

	"github.com/candor-mcp/candor"
)

// Labels that are not names of tools or of verdicts of the contract.
const (
	otherTool = "other" // a tool beyond the limit, or a verdict that is not in the contract
	noTool    = "none"  // the failure has no tool

	suspected = "suspected" // the outcome of an answer that only looks like a failure and was passed on unchanged
)

// verdict is the index of a verdict's name in [verdicts], or verdictClean, which is not counted.
type verdict int

const (
	verdictClean verdict = -1
	verdictCount         = len(verdicts)
	verdictOther         = verdict(verdictCount - 1)
)

// verdicts are the names of the verdicts in the contract, which this package does not import, and of other outcomes.
var verdicts = [...]string{"protocol", "tool", "masked", "malformed", "lost", "stray", suspected, otherTool}

func verdictOf(name string) verdict {
	if name == "clean" {
		return verdictClean
	}
	if i := slices.Index(verdicts[:], name); i >= 0 {
		return verdict(i)
	}
	return verdictOther
}

// codeTable numbers the registered codes: the slot of a code is its index.
type codeTable struct {
	codes []candor.Code
	slots []uint16 // indexed by the number of the code; cheaper than a map
}

var table = sync.OnceValue(func() *codeTable {
	t := &codeTable{}
	for c := range candor.Codes() { // ordered by number
		t.codes = append(t.codes, c)
	}
	t.slots = make([]uint16, t.codes[len(t.codes)-1].Number()+1)
	for slot, c := range t.codes {
		t.slots[c.Number()] = uint16(slot)
	}
	t.slots[0] = t.slots[candor.CodeUncodedError.Number()] // the zero code has the number 0
	return t
})

func (t *codeTable) slot(c candor.Code) int { return int(t.slots[c.Number()]) }

// Label returns a name as the root package cleans it for an error: one line of valid UTF-8, bounded to
// 256 bytes and without secrets. So the failures of an announced tool match its label.
func Label(name string) string {
	return candor.New(candor.CodeUncodedError, "", candor.WithTool(name)).CallInfo().Tool
}
