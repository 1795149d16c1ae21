package installcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// packageName is the name of Candor in the registries of npm and Python packages.
const packageName = "candor-mcp"

// candorCommand returns the command that clients are to start: the value of --command, or this executable.
func candorCommand(flag, system string) ([]string, error) {
	if flag == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, term.BadInput(commandHint, "the path of this program is unknown: %s", err)
		}
		return ownCommand(self, system)
	}
	words := []string{flag}
	if _, err := os.Stat(flag); err != nil { // a path may have spaces
		words = strings.Fields(flag)
	}
	if len(words) == 0 || !clientconfig.IsCandor(append(slices.Clone(words), "wrap", "--", "server")) {
		return nil, term.BadInput(`such as --command candor, or --command "npx -y `+packageName+`"`, "--command %q: does not name candor", flag)
	}
	return words, nil
}

const commandHint = "name the command that starts candor with --command"

// ownCommand returns the command for this executable. npx and uvx run it from a cache that they may delete, so clients must start
// it through them.
func ownCommand(self, system string) ([]string, error) {
	parts := strings.FieldsFunc(self, func(r rune) bool { return r == '/' || r == '\\' })
	switch {
	case slices.Contains(parts, "_npx") && system == "windows":
		return []string{"cmd", "/c", "npx", "-y", packageName}, nil
	case slices.Contains(parts, "_npx"):
		return []string{"npx", "-y", packageName}, nil
	case slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, "archive-v") }):
		return []string{"uvx", packageName}, nil
	case slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, "go-build") }):
		return nil, term.BadInput(commandHint, "%s is a temporary file of go run", self)
	}
	return []string{stablePath(self)}, nil
}

// stablePath returns the path of this executable on PATH, which stays the same when a package manager installs a new version
// behind a symbolic link; else the path itself.
func stablePath(self string) string {
	found, err := exec.LookPath(term.ProgramName)
	if err != nil {
		return self
	}
	if found, err = filepath.Abs(found); err != nil {
		return self
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(self)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return self
	}
	return found
}
