package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
)

// session is a Chromium that a client has launched.
type session struct {
	id      string
	config  Config
	browser *chromium
	proxy   *proxy
	context cdp.BrowserContextID // keeps cookies and storage in memory only
	turn    chan struct{}        // held by the call that uses the session

	ready   chan struct{} // closed when browser is set; events wait for it
	closing sync.Once
	used    atomic.Int64  // start or end of the last call, in nanoseconds
	closed  chan struct{} // closed when all resources are released

	mu       sync.Mutex
	tab      *tab // current tab; nil until there is one
	opening  bool // this session is opening a tab
	attached map[target.ID]target.SessionID
	arrived  chan struct{} // closed when attached changes
	launched time.Time
	reason   string // why it has ended
}

// open starts a Chromium and prepares a tab.
func open(ctx context.Context, id string, c Config, path string) (*session, error) {
	p, err := newProxy(&netpolicy.Dialer{Policy: c.Policy, Resolver: c.Resolver})
	if err != nil {
		return nil, err
	}
	p.reset(c.MaxTraffic)
	s := &session{
		id: id, config: c, proxy: p, turn: make(chan struct{}, 1), ready: make(chan struct{}), closed: make(chan struct{}),
		attached: map[target.ID]target.SessionID{}, arrived: make(chan struct{}), launched: time.Now(),
	}
	s.touch()
	if s.browser, err = start(c, path, p.address(), s.onEvent); err != nil {
		p.close()
		return nil, err
	}
	close(s.ready)
	if err := s.prepare(ctx); err != nil {
		output := s.browser.output.String()
		s.end("")
		switch {
		case strings.Contains(output, "No usable sandbox"), strings.Contains(output, "setuid_sandbox"):
			err = errSandbox
		case s.browser.overMemory.Load():
			err = errMemory
		}
		return nil, fmt.Errorf("%w; output: %s", err, output)
	}
	return s, nil
}

// errSandbox is the error for a Chromium that cannot use its sandbox.
var errSandbox = errors.New("the sandbox of Chromium cannot be used on this system")

// errMemory is the error for a Chromium that was stopped because of its memory use before it could be used.
var errMemory = errors.New("the browser used too much memory")

// prepare creates a private context and the first tab.
func (s *session) prepare(ctx context.Context) error {
	yes := true
	made, err := cdp.Call(ctx, s.browser.browser(), target.CreateBrowserContext, target.CreateBrowserContextParams{DisposeOnDetach: &yes})
	if err != nil {
		return err
	}
	s.context = made.BrowserContextID
	err = run(ctx, s.browser.browser(), browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: s.context,
	})
	if err != nil {
		return err
	}
	err = run(ctx, s.browser.browser(), target.SetAutoAttach, target.SetAutoAttachParams{
		AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &yes, Filter: target.Filter{{Type: "page"}},
	})
	if err != nil {
		return err
	}
	t, err := s.openTab(ctx)
	if err != nil {
		return err
	}
	return t.signIn(ctx)
}

// openTab opens a tab and makes it the current one.
func (s *session) openTab(ctx context.Context) (*tab, error) {
	s.mu.Lock()
	s.opening = true
	s.mu.Unlock()
	made, err := cdp.Call(ctx, s.browser.browser(), target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: s.context})
	if err != nil {
		return nil, err
	}
	id, err := s.attachment(ctx, made.TargetID)
	if err != nil {
		return nil, err
	}
	t := newTab(s.browser.client, id, made.TargetID)
	s.mu.Lock()
	s.tab, s.opening = t, false
	for other, id := range s.attached { // windows that pages have opened meanwhile
		if other != made.TargetID {
			s.closeWindow(id, other)
		}
	}
	clear(s.attached)
	s.mu.Unlock()
	return t, t.prepare(ctx)
}

// attachment waits until a target is attached and returns its session id.
func (s *session) attachment(ctx context.Context, id target.ID) (target.SessionID, error) {
	for {
		s.mu.Lock()
		found, arrived := s.attached[id], s.arrived
		s.mu.Unlock()
		if found != "" {
			return found, nil
		}
		select {
		case <-arrived:
		case <-s.browser.client.done:
			return "", errGone
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// onEvent handles an event of Chromium. It does not wait for Chromium.
func (s *session) onEvent(m *cdproto.Message) {
	<-s.ready
	if string(m.Method) == target.AttachedToTarget.Method {
		on(m, target.AttachedToTarget, s.onAttached)
		return
	}
	s.mu.Lock()
	t := s.tab
	s.mu.Unlock()
	if t != nil && m.SessionID == t.id {
		t.onEvent(m, s.proxy.secret)
	}
}

// onAttached closes each window that this session did not open, before the window runs scripts.
func (s *session) onAttached(e target.EventAttachedToTarget) {
	if e.TargetInfo == nil || e.TargetInfo.Type != "page" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opening {
		s.closeWindow(e.SessionID, e.TargetInfo.TargetID)
		return
	}
	s.attached[e.TargetInfo.TargetID] = e.SessionID
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// closeWindow closes a window that a page has opened. The page may wait for the window to run, so the window runs until
// it is closed, but all its requests are blocked.
func (s *session) closeWindow(id target.SessionID, window target.ID) {
	e := endpoint{s.browser.client, id}
	go func() {
		for _, command := range []func(context.Context) error{
			func(ctx context.Context) error { return run(ctx, e, fetch.Enable, fetch.EnableParams{}) },
			func(ctx context.Context) error { return run(ctx, e, runtime.RunIfWaitingForDebugger, cdp.Empty{}) },
		} {
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond) // a waiting window may answer them one after the other
			_ = command(ctx)
			cancel()
		}
		s.closeTarget(window)
	}()
}

func (s *session) closeTarget(id target.ID) {
	soon(func(ctx context.Context) error {
		return run(ctx, s.browser.browser(), target.CloseTarget, target.CloseTargetParams{TargetID: id})
	})
}

// current returns the current tab.
func (s *session) current() *tab {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tab
}

// sync waits until all events that Chromium has sent so far are handled.
func (s *session) sync(ctx context.Context) {
	_, _ = cdp.Call(ctx, s.browser.browser(), browser.GetVersion, cdp.Empty{}) // its result arrives after them
}

// restore makes the session usable again after a call was stopped. It terminates scripts and loads that do not end, and
// replaces a tab that still does not answer.
func (s *session) restore() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	t, lost := s.current(), "the page before did not stop in time"
	if t.hasCrashed() {
		lost = "the page before crashed"
		t.update(func(s *tabState) { s.crashed, s.lost = false, lost })
		if t.show(ctx, "about:blank") == nil { // it starts a new process for the page
			return
		}
	} else {
		stop := func() error { return run(ctx, t.endpoint, page.StopLoading, cdp.Empty{}) }
		go func() { _ = stop() }() // it waits for the page
		_ = run(ctx, t.endpoint, runtime.TerminateExecution, cdp.Empty{})
		if run(ctx, t.endpoint, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"}) == nil {
			return
		}
	}
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	replacement, err := s.openTab(ctx)
	if err != nil {
		s.end("its page could not be replaced")
		return
	}
	replacement.update(func(s *tabState) { s.lost = lost })
	s.closeTarget(t.target)
}

// touch records that the session is used now.
func (s *session) touch() { s.used.Store(time.Now().UnixNano()) }

// idle returns the time since the session was last used.
func (s *session) idle() time.Duration { return time.Since(time.Unix(0, s.used.Load())) }

// usable reports whether the session has not ended and its browser is running.
func (s *session) usable() bool {
	select {
	case <-s.browser.client.done:
		return false
	case <-s.browser.process.Done():
		return false
	default:
		return s.over() == ""
	}
}

// died returns the reason for a session whose browser has exited by itself.
func (s *session) died() string {
	if s.browser.overMemory.Load() {
		return "its browser used too much memory"
	}
	return "its browser ended unexpectedly"
}

// over returns why the session has ended, or "".
func (s *session) over() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// end releases all resources of the session. Later calls get reason as the reason.
func (s *session) end(reason string) {
	s.closing.Do(func() {
		s.mu.Lock()
		s.reason = reason
		s.mu.Unlock()
		if err := s.browser.close(); err != nil {
			s.config.Logger.Warn("removing a browser profile failed", slog.Any("error", err))
		}
		s.proxy.close()
		close(s.closed)
	})
	<-s.closed
}
