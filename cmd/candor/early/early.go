// Package early is this program as a guard: the hidden command that stands between it and a command that it has started.
//
// One is started for every server behind a gateway and for every check of a workbench, there with a second process that sets the limits.
// So it does not wait until the rest of the program has compiled its schemas and patterns, which takes several times as long as all that a
// guard does. Packages are initialised in the order of their paths as far as their imports allow: this one has a small path and few imports.
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
