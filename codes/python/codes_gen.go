// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package python has the codes of the domain python: running Python code or scripts for a caller.
package python

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain python.
var (
	// ExecFail is python/E_PY_EXEC_FAIL, number 2000. The Python code ended with an error.
	ExecFail = candor.CodeAt(codetable.At(8))
	// Security is python/E_PY_SECURITY, number 2001. The Python code uses something the sandbox forbids.
	Security = candor.CodeAt(codetable.At(9))
	// Timeout is python/E_PY_TIMEOUT, number 2002. The Python code ran longer than allowed and was stopped.
	Timeout = candor.CodeAt(codetable.At(10))
	// ScriptNotFound is python/E_PY_SCRIPT_NOT_FOUND, number 2003. No Python script has this name.
	ScriptNotFound = candor.CodeAt(codetable.At(11))
	// InvalidParams is python/E_PY_INVALID_PARAMS, number 2004. The parameters for the Python run do not fit.
	InvalidParams = candor.CodeAt(codetable.At(12))
)
