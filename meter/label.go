package meter

import (
	"sync"

	"github.com/candor-mcp/candor"
)

// Labels that stand for no particular name.
const (
	Other = "other" // a tool beyond the bound, or a verdict that the contract does not know
	None  = "none"  // the failure belongs to no tool
)

// verdict is the place of a verdict's name in [verdicts].
type verdict int

// The verdicts of the contract, by name: this room takes no types from there. verdictClean is not counted.
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

// codeTable numbers the registered codes: the place of a code is its slot.
type codeTable struct {
	codes []candor.Code
	slots []uint16 // by the number of the code: a code does not tell its index, and this is cheaper than a map
}

var table = sync.OnceValue(func() *codeTable {
	t := &codeTable{}
	for c := range candor.Codes() { // in the order of their numbers
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

// Label returns a name that came from elsewhere as the root lets it into an error: one line of valid UTF-8, bounded to
// [candor.MaxContext] and without secrets. So a tool that was announced is found by its failures.
func Label(name string) string {
	return candor.New(candor.CodeUncodedError, "", candor.WithTool(name)).CallInfo().Tool
}
