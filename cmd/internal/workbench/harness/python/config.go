package python

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/lazyregexp"
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

	// Private lists directories that no run may read.
	Private []string

	// Read returns a file that a run is given; see [domain.Environment].
	Read func(name string) ([]byte, error)

	// Guard is the command line that runs [guard.Main]. Without it there are no limits and no confinement, and New fails unless
	// Confine is ConfineAuto.
	Guard []string
}

// Limits that are not configurable.
const (
	maxFile    = 16 << 20 // bytes of one file
	maxFolder  = 64 << 20 // bytes of all files of a run
	maxOpen    = 32       // open files, which also bounds those that were deleted and are not counted
	maxMaps    = 1 << 30  // bytes of address space besides the memory, which bounds those that were deleted and are mapped
	floodAfter = 16 << 20 // bytes of output after which a run is stopped
)

func (c Config) withDefaults() Config {
	c.Confine = cmp.Or(c.Confine, ConfineRequire)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.MaxTimeout = cmp.Or(c.MaxTimeout, max(60*time.Second, c.Timeout))
	c.CheckTimeout = cmp.Or(c.CheckTimeout, 30*time.Second)
	c.Memory = cmp.Or(c.Memory, 256<<20)
	c.Output = cmp.Or(c.Output, 64<<10)
	c.Parallel = cmp.Or(c.Parallel, 4)
	c.Queue = cmp.Or(c.Queue, 64)
	return c
}

var identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ConfigFromEnv reads the configuration from MCP_PYTHON_* variables.
func ConfigFromEnv(env domain.Environment) (Config, error) {
	v := domain.Variables{Getenv: env.Getenv, Private: env.Private}
	c := Config{
		Path:       v.Path("MCP_PYTHON_PATH"),
		Scripts:    v.Folder("MCP_PYTHON_SCRIPTS"),
		Allow:      v.List("MCP_PYTHON_ALLOW"),
		Confine:    Confine(v.OneOf("MCP_PYTHON_CONFINE", string(ConfineRequire), string(ConfineAuto))),
		Timeout:    v.Milliseconds("MCP_PYTHON_TIMEOUT_MS", 1, 600_000),
		MaxTimeout: v.Milliseconds("MCP_PYTHON_MAX_TIMEOUT_MS", 1, 600_000),
		Memory:     int64(v.Number("MCP_PYTHON_MAX_MEMORY", 0, 32<<20, min(64<<30, math.MaxInt))),
		Private:    env.Private,
		Read:       env.Read,
		Guard:      env.Guard,
	}
	for _, name := range c.Allow {
		if !identifier.MatchString(name) {
			v.Fail("MCP_PYTHON_ALLOW", "names of modules or built-in functions, separated by commas")
		}
	}
	if d := c.withDefaults(); d.Timeout > d.MaxTimeout {
		v.Fail("MCP_PYTHON_TIMEOUT_MS", fmt.Sprintf("at most MCP_PYTHON_MAX_TIMEOUT_MS, which is %d", d.MaxTimeout.Milliseconds()))
	}
	return c, v.Err
}
