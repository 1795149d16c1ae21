// Package early runs this program as a guard: the hidden command between this program and a command that it has started.
//
// A guard is started for every server of a gateway and for every check of a workbench, there with a second process that sets the limits.
// So it runs before the other packages compile their schemas and patterns, which takes several times as long as the work of a
// guard. Packages are initialised in the order of their paths as far as their imports allow: this one has a small path and few imports.
package early

import (
	"os"

	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// Word is the hidden command. See [guard.Main].
const Word = "guard"

func init() {
	if len(os.Args) > 1 && os.Args[1] == Word {
		os.Exit(guard.Main(os.Args[2:]))
	}
}
