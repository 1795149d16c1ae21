package candortest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/wire"
)

// Options describes the server to the kit and selects checks. The zero value checks what is possible without calling a tool that is
// not marked readOnlyHint.
type Options struct {
	// Tools are calls that succeed. The kit also calls these tools with arguments that violate their schemas.
	Tools []Call
	// Failing are calls that fail although their arguments match the schema.
	Failing []Call
	// Panicking is a call in which the server's code crashes with a panic or an uncaught exception.
	Panicking Call
	// Slow is a call that takes at least a second to answer, and ends when it is cancelled.
	Slow Call

	// ProtocolOnly omits the checks of the level "manners".
	ProtocolOnly bool
	// Eras are the eras to check in, "2025-11-25" or "2026-07-28", all of which the server must support; nil means every era that it supports.
	Eras []string
	// Only lists the checks to run besides the handshake, which every check needs; nil means all.
	Only []string
	// Skip maps the checks to omit to the reason, which is shown instead. A check without a reason is an error, so that omitted checks
	// are not forgotten.
	Skip map[string]string

	// Timeout limits every wait for an answer; 0 means 5 seconds.
	Timeout time.Duration
	// Silence is how long a server that has answered a later message may take to answer an earlier one, after which the kit concludes
	// that no answer will come; 0 means 200 milliseconds.
	Silence time.Duration
	// Oversize is the size of a message that exceeds the server's limit; 0 means 17 MiB.
	Oversize int
}

// Call is a tool with arguments for it, a JSON object; "" means {}.
type Call struct{ Tool, Arguments string }

// params returns the params of tools/call.
func (c Call) params() string {
	return mcpclient.CallParams(c.Tool, c.Arguments)
}

// check returns an error if the arguments are not a JSON object.
func (c *Call) check() error {
	c.Arguments = cmp.Or(c.Arguments, `{}`)
	v, err := wire.ParseValue([]byte(c.Arguments), wire.Limits{})
	if err != nil || v.Type() != wire.TypeObject {
		return fmt.Errorf("tool %q: the arguments are not a JSON object", c.Tool)
	}
	return nil
}

// filled returns the options with their default values, or an error if they are invalid.
func (o Options) filled() (*Options, error) {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.Silence = cmp.Or(o.Silence, 200*time.Millisecond)
	o.Oversize = cmp.Or(o.Oversize, 17<<20)
	o.Tools, o.Failing = slices.Clone(o.Tools), slices.Clone(o.Failing)
	errs := []error{o.Panicking.check(), o.Slow.check()}
	for _, calls := range [][]Call{o.Tools, o.Failing} {
		for i := range calls {
			errs = append(errs, calls[i].check())
		}
	}
	for _, check := range o.Only {
		errs = append(errs, known("Only", check))
	}
	for check, reason := range o.Skip {
		errs = append(errs, known("Skip", check))
		if strings.TrimSpace(reason) == "" {
			errs = append(errs, fmt.Errorf("option Skip: %q: a reason is required", check))
		}
	}
	for _, era := range o.Eras {
		if !slices.Contains(eras(), era) {
			errs = append(errs, fmt.Errorf("option Eras: %q: unknown era, want one of %v", era, eras()))
		}
	}
	if o.Timeout < 0 || o.Silence < 0 {
		errs = append(errs, errors.New("options Timeout and Silence must be positive"))
	}
	if o.Oversize < 1024 || o.Oversize > 256<<20 {
		errs = append(errs, errors.New("option Oversize must be from 1 KiB to 256 MiB"))
	}
	return &o, errors.Join(errs...)
}

func known(option, check string) error {
	if slices.ContainsFunc(Checks(), func(r Rule) bool { return r.ID == check }) {
		return nil
	}
	return fmt.Errorf("option %s: %q: unknown check; Checks lists them", option, check)
}
