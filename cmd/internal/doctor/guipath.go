package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/clientconfig"
)

// guiPath is the PATH of programs that the desktop starts, such as an editor. It often differs from that of a shell, whose start-up
// files add folders.
type guiPath struct {
	list  string
	words string // where the list comes from
}

// macOSPath is the PATH that launchd gives to applications.
const macOSPath = "/usr/bin:/bin:/usr/sbin:/sbin"

func findGUIPath(o Options) guiPath {
	switch {
	case o.GUIPath != "":
		return guiPath{o.GUIPath, "the PATH given with --gui-path"}
	case runtime.GOOS == "darwin":
		return guiPath{macOSPath, "the PATH that macOS gives to applications (" + macOSPath + ")"}
	}
	return guiPath{o.Getenv("PATH"), "PATH"}
}

// shellPath is the PATH of this process, which was started in a shell.
func (e *examination) shellPath() guiPath { return guiPath{e.Getenv("PATH"), "PATH"} }

// pathCheck looks for candor as a client on the desktop would.
func (e *examination) pathCheck(context.Context) []Finding {
	const name = "candor"
	found, err := lookPath(name, e.gui.list)
	switch {
	case err == nil && !sameFile(found, e.Executable):
		return one(warning("other-candor", fmt.Sprintf("clients find another candor: %s, not %s", found, e.Executable),
			"remove one of them, or write the full path in the configuration of the client"))
	case err == nil:
		return one(ok(found + " is on " + e.gui.words))
	case e.bareCandor() != "":
		return one(failed("candor-not-on-path", fmt.Sprintf("the entry of %s runs candor by name, and candor is not on %s", e.bareCandor(), e.gui.words),
			"write the full path in the entry: "+e.Executable))
	}
	return one(warning("candor-not-on-path", "candor is not on "+e.gui.words,
		"write the full path in the configuration of a client: "+e.Executable))
}

// bareCandor returns the name of a server whose entry runs candor without a path and whose client does not find it, or "".
func (e *examination) bareCandor() string {
	for _, s := range e.clientServers() {
		_, program := clientconfig.Unwrap(s.line)
		if _, err := lookPath(program, s.path.list); program == "candor" && err != nil && !s.off {
			return s.name
		}
	}
	return ""
}

// lookPath is [exec.LookPath] for a given PATH. Like it, lookPath does not find a program by a relative path of a
// folder, which may be that of someone else's repository.
func lookPath(name, list string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, os.PathSeparator) {
		return name, clientconfig.CheckProgram(name)
	}
	err := fmt.Errorf("%q is not on the PATH", name)
	for _, dir := range filepath.SplitList(list) {
		for _, ending := range endings() {
			if file := filepath.Join(dir, name+ending); filepath.IsAbs(dir) && clientconfig.CheckProgram(file) == nil {
				return file, nil
			}
		}
	}
	return "", err
}

func endings() []string {
	if runtime.GOOS == "windows" {
		return []string{"", ".exe", ".cmd", ".bat", ".com"}
	}
	return []string{""}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
