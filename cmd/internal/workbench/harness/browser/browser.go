package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// launchTimeout is the maximum time for starting Chromium, long enough for a busy machine.
const launchTimeout = time.Minute

// Reasons for the end of a session.
const (
	closedText = "it was closed"
	diedText   = "its browser ended unexpectedly"
)

// Open returns a function that opens the domain with a name, [Playwright] or [Puppeteer]. Nothing is started before the first launch.
func Open(name string) func(domain.Environment) (domain.Domain, error) {
	return func(env domain.Environment) (domain.Domain, error) {
		c, err := configFromEnv(env)
		c.Name = name
		return newDriver(c.withDefaults()).domain(), err
	}
}

func newDriver(c Config) *driver {
	k := kinds[c.Name]
	return &driver{kind: k, config: c, pool: newPool(c, k.prefix+"-")}
}

// driver implements one of the domains.
type driver struct {
	kind   kind
	config Config
	pool   *pool
}

func (d *driver) domain() domain.Domain {
	return domain.Domain{
		Name: d.config.Name, About: "Drive a Chromium: open pages, read them, click and type.",
		Methods: d.methods(), Health: d.health,
		Close: func() error {
			d.pool.close()
			return nil
		},
	}
}

func (d *driver) health(context.Context) domain.Health {
	if _, err := find(d.config.Path); err != nil {
		return domain.Health{Details: installText}
	}
	return domain.Health{OK: true, Details: fmt.Sprintf("%d of %d sessions are open", len(d.pool.slots), d.config.MaxSessions)}
}

// launched is the result of launch.
type launched struct {
	Session  string `json:"session"`
	ExpireMs int64  `json:"expireMs"` // idle time after which the session is closed
}

func (d *driver) launch(ctx context.Context, _ struct{}) (launched, error) {
	start, cancel := context.WithTimeoutCause(ctx, launchTimeout, errTimeUp)
	defer cancel()
	s, err := d.pool.launch(start)
	if err != nil {
		return launched{}, d.kind.failLaunch(ctx, d.config, err)
	}
	s.touch()
	return launched{s.id, d.config.Idle.Milliseconds()}, nil
}

// stepInput holds the parameters of all methods with a session; close ignores the timeout.
type stepInput struct {
	Session   string `json:"session"`
	TimeoutMs int64  `json:"timeoutMs"`
}

// closing is the result of close.
type closing struct {
	Closed bool `json:"closed"`
}

func (d *driver) close(_ context.Context, in stepInput) (closing, error) {
	s, err := d.find(in.Session)
	if err != nil {
		return closing{}, err
	}
	s.end(closedText)
	return closing{true}, nil
}

func (d *driver) find(id string) (*session, error) {
	s, reason := d.pool.find(id)
	switch {
	case reason != "":
		return nil, domain.Fail(common.SessionNotFound, "the session is over: "+reason, nil)
	case s != nil:
		return s, nil
	case len(id) > 100:
		return nil, domain.Fail(common.InputTooLarge, "session: longer than 100 characters", nil)
	}
	return nil, domain.Fail(common.SessionNotFound, "no session has this id; launch opens one", nil)
}

// use runs a step in the tab of a session. Steps with the same session run one after the other.
func use[R any](ctx context.Context, d *driver, in stepInput, step string, run func(context.Context, *session) (R, error)) (result R, err error) {
	s, err := d.find(in.Session)
	if err != nil {
		return result, err
	}
	limit := d.config.Timeout
	if in.TimeoutMs > 0 {
		limit = min(limit, time.Duration(in.TimeoutMs)*time.Millisecond)
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := s.take(wait); err != nil {
		if errors.Is(err, errEnded) {
			return use(ctx, d, in, step, run) // returns the reason
		}
		return result, cmp.Or(ctx.Err(), err)
	}
	defer s.touch()
	s.touch()
	s.leaving.Store(false)
	s.why, s.options = "", nil
	stepCtx, cancel := s.step(wait, limit)
	result, err = run(stepCtx, s)
	if errors.Is(context.Cause(s.tab), errCrashed) && s.leaving.Load() { // a navigation does not depend on the page before
		cancel()
		s.restore()
		stepCtx, cancel = s.step(wait, limit)
		result, err = run(stepCtx, s)
	}
	defer cancel()
	if err == nil || stepCtx.Err() == nil {
		if err != nil {
			err = d.kind.fail(s, step, limit, err)
		}
		<-s.turn
		return result, err
	}
	if err = s.stoppedBy(ctx); !errors.Is(err, context.Canceled) {
		err = d.kind.fail(s, step, limit, err)
	}
	go func() { // the next call waits for it, not this reply
		s.restore()
		<-s.turn
	}()
	return result, err
}

// Limits of the input.
const (
	maxURL      = 2048
	maxSelector = 1000
	maxTyped    = 10_000
)

// checkURL returns the normalized URL to open.
func checkURL(text string) (string, error) {
	if len(text) > maxURL {
		return "", domain.Fail(common.InputTooLarge, fmt.Sprintf("url: %d characters, more than %d", len(text), maxURL), nil)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Scheme == "":
		return "", domain.Fail(common.InvalidParams, "url: not an absolute URL", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", domain.Fail(common.InvalidParams, "url: only http and https are opened, not "+quote(u.Scheme), nil)
	case u.Hostname() == "":
		return "", domain.Fail(common.InvalidParams, "url: no host", nil)
	case !validPort(u.Port()):
		return "", domain.Fail(common.InvalidParams, "url: the port is not between 1 and 65535", nil)
	case u.User != nil:
		return "", domain.Fail(common.InvalidParams, "url: a user name or password is not allowed", nil)
	}
	return u.String(), nil
}

// validPort reports whether a URL may have this port. It accepts "", for a URL without a port.
func validPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// checkSelector checks a selector as far as possible without a page.
func (d *driver) checkSelector(selector string) error {
	switch {
	case len(selector) > maxSelector:
		return domain.Fail(common.InputTooLarge, fmt.Sprintf("selector: %d characters, more than %d", len(selector), maxSelector), nil)
	case strings.TrimSpace(selector) == "":
		return domain.Fail(d.kind.selection, "the selector is empty", nil)
	}
	return nil
}
