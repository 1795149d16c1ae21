package workflow

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
	MaxProblems       = 100 // errors, and as many warnings; a last one says how many more there are
)

// Smaller limits that no serious file reaches. They keep what is shown to an agent short.
const (
	maxIDBytes      = 64
	maxTitle        = 200
	maxText         = 4 << 10 // of a description or one piece of guidance
	maxListItems    = 100     // of any list but the steps
	maxPatternSteps = 500     // of the program of one regular expression
	maxNodes        = 100_000 // values of the file, those behind an alias counted each time
	maxTreeDepth    = 64      // values inside values
)
