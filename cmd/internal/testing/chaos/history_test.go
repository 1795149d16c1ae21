package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// operation is one call of a store, as one client saw it.
type operation struct {
	Client int    `json:"client"`
	Number int    `json:"number"` // of the client's calls
	Kind   string `json:"kind"`   // append or head
	// Call and Return are nanoseconds of the machine's monotonic clock. Return is 0 while the call has not returned.
	Call   int64      `json:"call"`
	Return int64      `json:"return,omitempty"`
	After  fleet.Head `json:"after,omitzero"` // append: the expected head
	Next   fleet.Head `json:"next,omitzero"`  // append: the head after a success
	// Result is ok, conflict or unknown. A head that could not be read is left out of the history.
	Result string     `json:"result,omitempty"`
	Head   fleet.Head `json:"head,omitzero"` // the head that was read, or the one that a conflict names
}

const (
	kindAppend = "append"
	kindHead   = "head"

	resultOK       = "ok"
	resultConflict = "conflict"
	resultUnknown  = "unknown"
)

// recorder writes operations to a file, each when it begins and again when it ends, so that a killed process leaves its unfinished ones.
type recorder struct {
	mu sync.Mutex
	to io.Writer
}

func (r *recorder) write(op operation) error {
	line, err := json.Marshal(op)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.to.Write(append(line, '\n'))
	return err
}

// readHistory reads what recorders have written to files. The later line of an operation replaces the earlier one.
func readHistory(t *testing.T, files ...string) []operation {
	t.Helper()
	var history []operation
	for _, name := range files {
		history = append(history, readOperations(t, name)...)
	}
	return history
}

func readOperations(t *testing.T, name string) []operation {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	var history []operation
	index := map[int]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var op operation
		if json.Unmarshal(lines.Bytes(), &op) != nil {
			break // the process was killed while it wrote the line
		}
		if at, known := index[op.Number]; known {
			history[at] = op
			continue
		}
		index[op.Number] = len(history)
		history = append(history, op)
	}
	return history
}

// registerModel is a register that holds the head of a chain. An append is a compare-and-set.
var registerModel = porcupine.Model{
	Init: func() any { return fleet.Head{} },
	Step: func(state, _, output any) (bool, any) {
		at, isHead := state.(fleet.Head)
		op, isOperation := output.(operation)
		if !isHead || !isOperation {
			return false, state
		}
		return step(at, op)
	},
}

// step reports whether an operation can have happened at a head, and returns the head after it.
func step(at fleet.Head, op operation) (bool, fleet.Head) {
	switch {
	case op.Kind == kindHead:
		return at == op.Head, at
	case op.Result == resultConflict:
		return at != op.After, at
	default: // a success, or an append with an unknown result, if its entry was seen
		return at == op.After, op.Next
	}
}

// strict requires that heads and conflicts are up to date. Without it they may be as old as a leader that is cut off from the others but not
// from its clients: such a leader cannot append, but it answers. In both cases every append is a compare-and-set on the newest head.
type strict bool

// linearizable checks a history. An append with an unknown result may take effect at any later time. It counts only if its entry was seen;
// otherwise it constrains nothing.
func linearizable(history []operation, how strict) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(registerModel, operations(history, how), time.Minute)
}

func operations(history []operation, how strict) []porcupine.Operation {
	seen := map[fleet.Head]bool{}
	for _, op := range history {
		seen[op.Head], seen[op.After] = true, true
	}
	var out []porcupine.Operation
	add := func(op operation) {
		out = append(out, porcupine.Operation{ClientId: len(out), Input: op.Kind, Call: op.Call, Output: op, Return: op.Return})
	}
	read := func(op operation) {
		op.Kind = kindHead
		if !how {
			op.Call = 0
		}
		add(op)
	}
	for _, op := range history {
		switch {
		case op.Kind == kindHead && op.Result == resultOK:
			read(op)
		case op.Result == resultOK:
			add(op)
		case op.Result == resultConflict:
			read(op)
			if how {
				add(op)
			}
		case op.Kind == kindAppend && seen[op.Next]:
			op.Result, op.Return = resultUnknown, math.MaxInt64
			add(op)
		}
	}
	return out
}

// summary counts the results of a history.
func summary(history []operation) string {
	counts := map[string]int{}
	for _, op := range history {
		result := op.Result
		if result == "" {
			result = resultUnknown
		}
		counts[op.Kind+" "+result]++
	}
	return fmt.Sprintf("%d operations: %v", len(history), counts)
}
