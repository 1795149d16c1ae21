package python

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Confine selects the behaviour on systems that cannot confine a process.
type Confine string

// The values of [Config.Confine].
const (
	ConfineRequire Confine = "require" // calls fail
	ConfineAuto    Confine = "auto"    // code runs with the confinement that the system supports, possibly only the policy
)

// Config configures the domain. Zero fields have defaults.
type Config struct {
	Path       string        // the interpreter; by default python3 from PATH
	Scripts    string        // absolute path of the directory with scripts; none by default
	Allow      []string      // modules and built-in functions that the policy allows besides its own list
	Confine    Confine       // ConfineRequire by default
	Timeout    time.Duration // of a call without a timeout; 10 s by default
	MaxTimeout time.Duration // maximum timeout of a call; 60 s by default
	// CheckTimeout limits the check that precedes a run; 30 s by default. It is much longer than a check takes, for machines under load.
	CheckTimeout time.Duration
	Memory       int64 // bytes of memory of a run; 256 MiB by default
	Output       int   // bytes of each output stream that a result keeps; 64 KiB by default
	Parallel     int   // runs at the same time; 4 by default
	Queue        int   // calls that may wait for a slot; 64 by default

	// Guard is the command line that runs [guard.Main]. Without it there are no limits and no confinement, and New fails unless
	// Confine is ConfineAuto.
	Guard []string
	// Environ is the environment for finding the interpreter; by default that of this process. Code never sees it.
	Environ []string
}

// Limits that are not configurable.
const (
	maxFile    = 16 << 20 // bytes of one file
	maxFolder  = 64 << 20 // bytes of all files of a run
	floodAfter = 16 << 20 // bytes of output after which a run is stopped
)

func (c Config) withDefaults() Config {
	if c.Confine == "" {
		c.Confine = ConfineRequire
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.MaxTimeout == 0 {
		c.MaxTimeout = max(60*time.Second, c.Timeout)
	}
	if c.CheckTimeout == 0 {
		c.CheckTimeout = 30 * time.Second
	}
	if c.Memory == 0 {
		c.Memory = 256 << 20
	}
	if c.Output == 0 {
		c.Output = 64 << 10
	}
	if c.Parallel == 0 {
		c.Parallel = 4
	}
	if c.Queue == 0 {
		c.Queue = 64
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	return c
}

func (c Config) check() error {
	if c.Path != "" && !filepath.IsAbs(c.Path) {
		return fmt.Errorf("python path %q: not an absolute path", c.Path)
	}
	if c.Scripts != "" && !filepath.IsAbs(c.Scripts) {
		return fmt.Errorf("python scripts folder %q: not an absolute path", c.Scripts)
	}
	if c.Confine != ConfineRequire && c.Confine != ConfineAuto {
		return fmt.Errorf("python confinement %q: want %s or %s", c.Confine, ConfineRequire, ConfineAuto)
	}
	if c.Timeout > c.MaxTimeout {
		return fmt.Errorf("python timeout %s: larger than its maximum %s", c.Timeout, c.MaxTimeout)
	}
	return nil
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// ConfigFromEnv reads the configuration from MCP_PYTHON_* variables.
func ConfigFromEnv(getenv func(string) string) (Config, error) {
	e := reader{getenv: getenv}
	c := Config{
		Path:         e.path("MCP_PYTHON_PATH"),
		Scripts:      e.folder("MCP_PYTHON_SCRIPTS"),
		Allow:        e.names("MCP_PYTHON_ALLOW"),
		Confine:      Confine(e.oneOf("MCP_PYTHON_CONFINE", string(ConfineRequire), string(ConfineAuto))),
		Timeout:      time.Duration(e.number("MCP_PYTHON_TIMEOUT_MS", 1, 600_000)) * time.Millisecond,
		MaxTimeout:   time.Duration(e.number("MCP_PYTHON_MAX_TIMEOUT_MS", 1, 600_000)) * time.Millisecond,
		CheckTimeout: time.Duration(e.number("MCP_PYTHON_CHECK_TIMEOUT_MS", 1, 600_000)) * time.Millisecond,
		Memory:       e.number("MCP_PYTHON_MAX_MEMORY", 32<<20, 64<<30),
		Output:       int(e.number("MCP_PYTHON_MAX_OUTPUT", 1<<10, 16<<20)),
		Parallel:     int(e.number("MCP_PYTHON_PARALLEL", 1, 64)),
	}
	if e.err == nil {
		if d := c.withDefaults(); d.Timeout > d.MaxTimeout {
			e.err = fmt.Errorf("MCP_PYTHON_TIMEOUT_MS: larger than MCP_PYTHON_MAX_TIMEOUT_MS, which is %d", d.MaxTimeout.Milliseconds())
		}
	}
	return c, e.err
}

// reader reads variables and keeps the first error.
type reader struct {
	getenv func(string) string
	err    error
}

func (r *reader) fail(name, value, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s=%q: want %s", name, value, want)
	}
}

func (r *reader) path(name string) string {
	value := r.getenv(name)
	if value != "" && !filepath.IsAbs(value) {
		r.fail(name, value, "an absolute path")
	}
	return value
}

func (r *reader) folder(name string) string {
	value := r.path(name)
	if info, err := os.Stat(value); value != "" && (err != nil || !info.IsDir()) {
		r.fail(name, value, "the absolute path of an existing folder")
	}
	return value
}

func (r *reader) names(name string) (list []string) {
	value := r.getenv(name)
	if value == "" {
		return nil
	}
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); !identifier().MatchString(word) {
			r.fail(name, value, "names of modules or built-in functions, separated by commas")
			return nil
		}
		list = append(list, word)
	}
	return list
}

func (r *reader) oneOf(name string, values ...string) string {
	value := r.getenv(name)
	if value == "" {
		return ""
	}
	for _, v := range values {
		if v == value {
			return value
		}
	}
	r.fail(name, value, strings.Join(values, " or "))
	return ""
}

// number returns 0 for an unset variable.
func (r *reader) number(name string, least, most int64) int64 {
	value := r.getenv(name)
	if value == "" {
		return 0
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		r.fail(name, value, fmt.Sprintf("a number from %d to %d", least, most))
		return 0
	}
	return n
}
