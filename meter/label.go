package meter

import (
	"sync"

	"github.com/candor-mcp/candor"
)

// Labels that are not names of tools or verdicts.
const (
	Other = "other" // a tool beyond the limit, or a verdict that is not in the contract
	None  = "none"  // the failure has no tool
)

// verdict is the index of a verdict's name in [verdicts].
type verdict int

// The verdicts of the contract. This package uses their names and does not import their types. verdictClean is not counted.
const (
	verdictClean verdict = iota - 1
	verdictProtocol
	verdictTool
	verdictMasked
	verdictMalformed
	verdictLost
	verdictStray
	verdictOther
	verdictCount int = iota - 1
)

var verdicts = [verdictCount]string{"protocol", "tool", "masked", "malformed", "lost", "stray", Other}

func verdictOf(name string) verdict {
	switch name {
	case "clean":
		return verdictClean
	case "protocol":
		return verdictProtocol
	case "tool":
		return verdictTool
	case "masked":
		return verdictMasked
	case "malformed":
		return verdictMalformed
	case "lost":
		return verdictLost
	case "stray":
		return verdictStray
	default:
		return verdictOther
	}
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
// [candor.MaxContext] and without secrets. So the failures of an announced tool match its label.
func Label(name string) string {
	return candor.New(candor.CodeUncodedError, "", candor.WithTool(name)).CallInfo().Tool
}
