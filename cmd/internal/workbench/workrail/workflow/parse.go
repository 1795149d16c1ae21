package workflow

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
)

// Parse reads a workflow file. The name is for messages; a file whose name ends in .json must be JSON, every other file
// may be YAML or JSON. The error is an [*Error].
func Parse(name string, data []byte) (*Workflow, error) {
	w, found := Check(name, data)
	if w == nil {
		return nil, &Error{Problems: found}
	}
	return w, nil
}

// Check is [Parse] with warnings. The workflow is nil if one of the problems is an error; the list then has no warnings.
func Check(name string, data []byte) (*Workflow, []Problem) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	r := newReader(name, data[:min(len(data), MaxBytes)]) // the lines of a larger file are not shown
	root := r.parse(name, data)
	if root == nil {
		return nil, problems(r.errors, SeverityError)
	}
	w := r.workflow(root)
	if r.errors.Count() == 0 {
		if text, err := w.JSON(); err != nil || len(text) > MaxBytes {
			r.errors.Whole(yamlfile.NewMistake("use fewer aliases, or split the workflow", "workflow: larger than %d KiB with its aliases filled in", MaxBytes>>10))
		}
	}
	if r.errors.Count() > 0 {
		return nil, problems(r.errors, SeverityError)
	}
	return w, problems(r.warnings, SeverityWarning)
}

// parse returns the tree of the file, nil if there is an error.
func (r *reader) parse(name string, data []byte) *node {
	isJSON := strings.EqualFold(path.Ext(name), ".json")
	switch {
	case len(data) > MaxBytes:
		r.errors.Whole(yamlfile.NewMistake("split it into several workflows", "file: larger than %d KiB", MaxBytes>>10))
		return nil
	case !utf8.Valid(data):
		r.errors.Whole(yamlfile.NewMistake("save it as UTF-8", "file: not UTF-8 text"))
		return nil
	case len(bytes.TrimSpace(data)) == 0:
		r.errors.Whole(yamlfile.NewMistake("a workflow begins with id: and name:", "file: empty"))
		return nil
	}
	var root *node
	switch {
	case json.Valid(data):
		root = r.parseJSON(data)
	case isJSON:
		r.syntaxError(data)
	default:
		root = r.parseYAML(data)
	}
	if r.errors.Count() > 0 {
		return nil
	}
	return root
}

// The limits of a workflow file.
const (
	MaxBytes          = 1 << 20 // of the file, and of its canonical text
	MaxSteps          = 500     // in all, those in loops included
	MaxDepth          = 8       // loops inside loops
	MaxIterations     = 1000    // the largest limit a loop may have
	MaxPromptBytes    = 16 << 10
	MaxConditionDepth = 8
	MaxConditionParts = 64  // of one condition
	MaxPatternBytes   = 256 // of one regular expression
	MaxKeyBytes       = 128
	MaxProblems       = 100 // errors, and as many warnings; a last problem counts the omitted ones
)

// Smaller limits that no serious file reaches. They keep the texts for an agent short.
const (
	maxIDBytes      = 64
	maxTitle        = 200
	maxText         = 4 << 10 // of a description or one piece of guidance
	maxListItems    = 100     // of any list but the steps
	maxPatternSteps = 500     // of the program of one regular expression
	maxNodes        = 100_000 // values of the file; those behind an alias count each time
	maxTreeDepth    = 64      // values inside values
)
