package kaiza_test

import "github.com/candor-mcp/candor/cmd/internal/testing/iofault"

// asLauncher does not return in a process that was started as the launcher of a fault injector.
func asLauncher() { iofault.Main() }
