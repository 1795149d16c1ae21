// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package python has the codes of the domain python: running Python code or scripts for a caller.
package python

import "github.com/candor-mcp/candor"

// The codes of the domain python.
const (
	// ExecFail is python/E_PY_EXEC_FAIL. The Python code ended with an error.
	ExecFail candor.Code = 2000
	// Security is python/E_PY_SECURITY. The Python code uses something the sandbox forbids.
	Security candor.Code = 2001
	// Timeout is python/E_PY_TIMEOUT. The Python code ran longer than allowed and was stopped.
	Timeout candor.Code = 2002
	// ScriptNotFound is python/E_PY_SCRIPT_NOT_FOUND. No Python script has this name.
	ScriptNotFound candor.Code = 2003
	// InvalidParams is python/E_PY_INVALID_PARAMS. The parameters for the Python run are invalid.
	InvalidParams candor.Code = 2004
)
