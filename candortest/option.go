package candortest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// Option describes the server to the kit, or selects checks. Without options the kit checks what is possible
// without calling a tool that is not marked readOnlyHint.
type Option func(*settings) error

type settings struct {
	tools     []call // known to succeed
	failing   []call // known to fail
	panicking *call
	slow      *call
	skip      map[string]string
	only      []string
	eras      []Era
	level     Level
	timeout   time.Duration
	settle    time.Duration
	oversize  int
}

// call is a tool with arguments for it.
type call struct{ tool, args string }

// params returns the params of tools/call.
func (c call) params() string { return `{"name":` + quote(c.tool) + `,"arguments":` + c.args + `}` }

func newSettings(opts []Option) (*settings, error) {
	set := &settings{skip: map[string]string{}, level: Manners, timeout: 5 * time.Second, settle: 200 * time.Millisecond, oversize: 17 << 20}
	var errs []error
	for _, opt := range opts {
		errs = append(errs, opt(set))
	}
	return set, errors.Join(errs...)
}

// WithTool names a tool that the kit may call, with arguments that it accepts: a JSON object. The kit also calls it
// with arguments that violate its schema. The option may be repeated.
func WithTool(name, goodArgs string) Option {
	return func(s *settings) error {
		c, err := newCall("WithTool", name, goodArgs)
		s.tools = append(s.tools, c)
		return err
	}
}

// WithFailingTool names a call that is known to fail although its arguments match the schema. The option may be repeated.
func WithFailingTool(name, args string) Option {
	return func(s *settings) error {
		c, err := newCall("WithFailingTool", name, args)
		s.failing = append(s.failing, c)
		return err
	}
}

// WithPanickingTool names a call in which the server's code crashes with a panic or an uncaught exception.
func WithPanickingTool(name, args string) Option {
	return func(s *settings) error {
		c, err := newCall("WithPanickingTool", name, args)
		s.panicking = &c
		return err
	}
}

// WithSlowTool names a call that takes at least a second to answer, and ends when it is cancelled.
func WithSlowTool(name, args string) Option {
	return func(s *settings) error {
		c, err := newCall("WithSlowTool", name, args)
		s.slow = &c
		return err
	}
}

func newCall(option, name, args string) (call, error) {
	if args == "" {
		args = `{}`
	}
	v, err := wire.ParseValue([]byte(args), wire.Limits{})
	if err != nil || v.Type() != wire.TypeObject {
		return call{}, fmt.Errorf("%s(%q): the arguments are not a JSON object", option, name)
	}
	return call{name, args}, nil
}

// Skip omits a check and shows the reason instead. Without a reason, or for a check that does not exist, the run fails,
// so that omitted checks are not forgotten.
func Skip(check, reason string) Option {
	return func(s *settings) error {
		if strings.TrimSpace(reason) == "" {
			return fmt.Errorf("Skip(%q): a reason is required", check)
		}
		s.skip[check] = reason
		return known("Skip", check)
	}
}

// Only runs these checks and no others, except for the handshake that every check needs.
func Only(checks ...string) Option {
	return func(s *settings) error {
		s.only = append(s.only, checks...)
		var errs []error
		for _, check := range checks {
			errs = append(errs, known("Only", check))
		}
		return errors.Join(errs...)
	}
}

func known(option, check string) error {
	if slices.ContainsFunc(Checks(), func(r Rule) bool { return r.ID == check }) {
		return nil
	}
	return fmt.Errorf("%s(%q): unknown check; Checks lists them", option, check)
}

// WithEra checks only in the given eras, and requires that the server supports each. Without it the kit detects the
// eras that the server supports and checks in all of them.
func WithEra(eras ...Era) Option {
	return func(s *settings) error {
		for _, era := range eras {
			if !slices.Contains(Eras(), era) {
				return fmt.Errorf("WithEra(%q): unknown era, want one of %v", era, Eras())
			}
		}
		s.eras = append(s.eras, eras...)
		return nil
	}
}

// WithLevel sets the highest level of the checks to run. The default is [Manners].
func WithLevel(level Level) Option {
	return func(s *settings) error {
		s.level = level
		if level < Protocol || level > Contract {
			return fmt.Errorf("WithLevel(%d): unknown level", level)
		}
		return nil
	}
}

// WithTimeout sets the timeout of every wait for an answer. The default is 5 seconds.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) error {
		s.timeout = d
		if d <= 0 {
			return errors.New("WithTimeout: the time must be positive")
		}
		return nil
	}
}

// WithSettle sets how long a server that has answered a later message may take to answer an earlier one. It is also how
// long the kit waits before it concludes that no answer will come. The default is 200 milliseconds.
func WithSettle(d time.Duration) Option {
	return func(s *settings) error {
		s.settle = d
		if d <= 0 {
			return errors.New("WithSettle: the time must be positive")
		}
		return nil
	}
}

// WithOversize sets the size of the message that is meant to be too large. Choose one beyond the
// server's limit. The default is 17 MiB.
func WithOversize(bytes int) Option {
	return func(s *settings) error {
		s.oversize = bytes
		if bytes < 1024 || bytes > 256<<20 {
			return errors.New("WithOversize: the size must be from 1 KiB to 256 MiB")
		}
		return nil
	}
}
