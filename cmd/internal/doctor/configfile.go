package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// formatVersion is the version of candor.yaml that this program reads.
const formatVersion = 1

// readConfig reads the configuration. Missing environment variables are collected instead of being errors, because they are a
// check of their own.
func readConfig(name string, getenv func(string) string) configFile {
	c := configFile{name: name}
	if name == "" {
		return c
	}
	c.version = versionIn(name)
	if n, err := strconv.Atoi(c.version); err == nil && n > formatVersion {
		c.newer = true
		return c
	}
	source := config.Source{Getenv: func(variable string) string {
		v := getenv(variable)
		if v != "" {
			return v
		}
		if !slices.Contains(c.missing, variable) {
			c.missing = append(c.missing, variable)
		}
		return unset
	}}
	if c.file, c.err = config.Read(name, source); c.err == nil {
		c.err = c.file.CheckReach()
	}
	return c
}

// unset stands for the value of a variable that is not set.
const unset = "candor-doctor-unset-variable"

// versionIn returns the value of the key version, or "".
func versionIn(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	if found := versionLine.FindSubmatch(data); found != nil {
		return string(found[1])
	}
	return ""
}

// versionLine matches the key version at the top level. A newer format may have values that the parser of this one refuses.
var versionLine = regexp.MustCompile(`(?m)^version:[ \t]*["']?([0-9]+)["']?[ \t]*(?:#.*)?\r?$`)

func (e *examination) versionCheck(context.Context) []Finding {
	if e.config.newer {
		return one(failed("config-newer", fmt.Sprintf("%s has version %s of the format, and candor %s reads version %d", e.config.name, e.config.version, e.Version, formatVersion),
			"install a newer candor, or write the file for version "+strconv.Itoa(formatVersion)))
	}
	return one(ok("candor " + e.Version))
}

func (e *examination) configCheck(context.Context) []Finding {
	c := &e.config
	switch {
	case c.name == "":
		return one(skipped("there is no candor.yaml here; only candor gateway needs one"))
	case c.newer:
		return one(skipped(c.name + " was not read: it needs a newer candor").about(c.name))
	case errors.Is(c.err, fs.ErrNotExist):
		return one(failed("config-missing", c.name+" does not exist", "check the name after --config, or write one with candor init").about(c.name))
	case c.err != nil:
		return one(failed("config-invalid", oneProblem(c.err), "correct the file; candor gateway check --config "+c.name+" shows every mistake").about(c.name))
	}
	return one(ok(fmt.Sprintf("%s is valid, with %s", c.name, count(len(c.file.Upstreams), "server", "servers"))).about(c.name))
}

// oneProblem returns the first problem of a file in one line, with the number of the others.
func oneProblem(err error) string {
	inside, isFile := errors.AsType[*config.Error](err)
	if !isFile || len(inside.Problems) == 0 {
		if m, isMistake := errors.AsType[*config.Mistake](err); isMistake {
			return m.Text
		}
		return err.Error()
	}
	p := inside.Problems[0]
	text := p.Place() + ": " + p.Text
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	if more := len(inside.Problems) - 1; more > 0 {
		text += fmt.Sprintf("; and %s", count(more, "other mistake", "other mistakes"))
	}
	return text
}

func (e *examination) environmentCheck(context.Context) []Finding {
	if missing := e.config.missing; len(missing) > 0 {
		return one(failed("variable-unset", "the configuration needs environment variables that are not set: "+strings.Join(missing, ", "),
			"set them where the gateway is started"))
	}
	var missing []string
	for _, c := range e.Clients {
		for _, r := range c.references() {
			if text := r.Name + " (for " + r.Value + ")"; e.Getenv(r.Name) == "" && !slices.Contains(missing, text) {
				missing = append(missing, text)
			}
		}
	}
	switch {
	case len(missing) > 0:
		return one(warning("variable-unset", "servers of clients need environment variables that are not set here: "+strings.Join(missing, ", "),
			"set them where the client is started, unless they are set there already"))
	case e.config.file == nil && len(e.Clients) == 0:
		return one(skipped("no configuration was read"))
	}
	return one(ok("every environment variable that the configuration needs is set"))
}

// maxAhead is the difference between clocks that is not worth a warning.
const maxAhead = 5 * time.Minute

// clockCheck compares the clock with the time of the build and with the monotonic clock of this process.
func (e *examination) clockCheck(context.Context) []Finding {
	now := e.Now()
	if now.Before(e.Built.Add(-24*time.Hour)) || now.Year() < 2024 {
		return one(failed("clock-behind", "the clock says "+now.Format(time.RFC3339)+", which is before this program was built",
			"set the clock, such as with NTP: failures are recorded with its time"))
	}
	wall := now.Round(0).Sub(e.began.Round(0))
	if jump := (wall - now.Sub(e.began)).Abs(); jump > 2*time.Second {
		return one(warning("clock-jumped", "the clock was changed by "+jump.Round(time.Second).String()+" during this check",
			"find out what sets the clock; run only one time service"))
	}
	return one(ok("the clock says " + now.Format("2006-01-02 15:04:05 -07:00")))
}

// count returns n with the singular or the plural of a noun.
func count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return strconv.Itoa(n) + " " + plural
}
