package workflow

import "encoding/json"

// Loop repeats steps.
type Loop struct {
	Kind          LoopKind
	Condition     *Condition // of while and until
	Times         Count      // of times
	Each          string     // of each: the key of a list
	As            string     // the name under which the steps see the current item
	Index         string     // the name under which they see the number of the iteration, from 1
	MaxIterations int
	OnLimit       OnLimit
	Steps         []Step
}

// LoopKind is the kind of condition under which a loop continues.
type LoopKind string

// The kinds of loops.
const (
	LoopWhile LoopKind = "while" // as long as a condition holds, checked before each iteration
	LoopUntil LoopKind = "until" // until a condition holds, checked after each iteration
	LoopTimes LoopKind = "times" // a number of times
	LoopEach  LoopKind = "each"  // once for each item of a list
)

// LoopKinds returns all kinds.
func LoopKinds() []LoopKind { return []LoopKind{LoopWhile, LoopUntil, LoopTimes, LoopEach} }

// OnLimit is the behaviour of a loop that has used up its MaxIterations and would continue.
type OnLimit string

// The values of [OnLimit]. The default is fail.
const (
	LimitFails  OnLimit = "fail"  // the run cannot continue
	LimitLeaves OnLimit = "leave" // the run continues with the step after the loop
)

// Count is a number of times: N, or the value of a context key if Key is not empty.
type Count struct {
	N   int
	Key string
}

// MarshalJSON returns the number or the key.
func (c Count) MarshalJSON() ([]byte, error) {
	if c.Key != "" {
		return json.Marshal(c.Key)
	}
	return json.Marshal(c.N)
}

// MarshalJSON returns the loop as a file has it, with the kind as a key.
func (l Loop) MarshalJSON() ([]byte, error) {
	file := struct {
		While         *Condition `json:"while,omitempty"`
		Until         *Condition `json:"until,omitempty"`
		Times         *Count     `json:"times,omitempty"`
		Each          string     `json:"each,omitempty"`
		As            string     `json:"as,omitempty"`
		Index         string     `json:"index,omitempty"`
		MaxIterations int        `json:"maxIterations"`
		OnLimit       OnLimit    `json:"onLimit,omitempty"`
		Steps         []Step     `json:"steps"`
	}{As: l.As, Index: l.Index, MaxIterations: l.MaxIterations, OnLimit: l.OnLimit, Steps: l.Steps}
	switch l.Kind {
	case LoopWhile:
		file.While = l.Condition
	case LoopUntil:
		file.Until = l.Condition
	case LoopTimes:
		file.Times = &l.Times
	case LoopEach:
		file.Each = l.Each
	}
	return json.Marshal(file)
}
