package kaiza_test

import "github.com/candor-mcp/candor/cmd/internal/testing/iofault"

// asLauncher does not return in a process that starts a server under an injector of faults.
func asLauncher() { iofault.Main() }
