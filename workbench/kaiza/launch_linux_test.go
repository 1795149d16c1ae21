package kaiza_test

import "github.com/candor-mcp/candor/internal/iofault"

// asLauncher does not return in a process that starts a server under an injector of faults.
func asLauncher() { iofault.Main() }
