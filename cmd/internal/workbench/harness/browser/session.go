package browser

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
	"github.com/candor-mcp/candor/cmd/internal/scratch"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// Errors of a session.
var (
	errTimeUp  = errors.New("the step timed out")
	errGone    = errors.New("the browser has ended")
	errCrashed = errors.New("the page crashed")
	errEnded   = errors.New("the session has ended")
	errSandbox = errors.New("the sandbox of Chromium cannot be used on this system")
)

// session is a Chromium that a client has launched.
type session struct {
	id      string
	profile *scratch.Dir
	proxy   *proxy
	browser context.Context // of chromedp; ends with the Chromium
	stop    context.CancelFunc
	turn    chan struct{} // held by the call that uses the session

	closing sync.Once
	closed  chan struct{} // closed when all resources are released

	// The fields below belong to the call that holds the turn.
	tab     context.Context // of chromedp; ends with errCrashed as its cause when the page crashes
	drop    context.CancelCauseFunc
	leaving atomic.Bool // a navigation has begun whose document is not shown yet
	lost    string      // why a blank page is shown instead of a document
	why     string      // why the element of the step cannot be used yet
	options []string    // those that its field has instead

	refused atomic.Pointer[string] // what the page tried during the step and may not

	mu     sync.Mutex
	used   time.Time // start or end of the last call
	reason string    // why the session has ended
}

// open starts a Chromium and opens a tab.
func open(ctx context.Context, id string, c Config, path string) (*session, error) {
	profile, err := scratch.New(profileRoot(), profilePrefix)
	if err != nil {
		return nil, err
	}
	s := &session{
		id: id, profile: profile, turn: make(chan struct{}, 1), closed: make(chan struct{}), used: time.Now(),
	}
	if s.proxy, err = newProxy(&netpolicy.Dialer{Policy: c.Policy}); err != nil {
		s.profile.Remove()
		return nil, err
	}
	allocator, free := chromedp.NewExecAllocator(context.Background(), options(path, profile.Path, s.proxy.address())...)
	var end context.CancelFunc
	s.browser, end = chromedp.NewContext(allocator)
	s.stop = func() { end(); free() }
	defer context.AfterFunc(ctx, s.stop)()
	if err := s.prepare(); err != nil {
		s.end("")
		if strings.Contains(err.Error(), "No usable sandbox") || strings.Contains(err.Error(), "setuid_sandbox") {
			err = errSandbox
		}
		return nil, errors.Join(err, context.Cause(ctx))
	}
	return s, nil
}

// prepare denies downloads, opens the first tab, and closes windows that pages open.
func (s *session) prepare() error {
	if err := chromedp.Do(s.browser); err != nil {
		return err
	}
	events := true
	deny := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, EventsEnabled: &events}
	if _, err := chromedp.CallBrowser(s.browser, browser.SetDownloadBehavior, deny); err != nil {
		return err
	}
	created := chromedp.BrowserEvents(s.browser, target.TargetCreated)
	go func() {
		for e, err := range created {
			if err == nil && e.TargetInfo.OpenerID != "" {
				s.refused.Store(&windowText)
				_, _ = chromedp.CallBrowser(s.browser, target.CloseTarget, target.CloseTargetParams{TargetID: e.TargetInfo.TargetID})
			}
		}
	}()
	downloads := chromedp.BrowserEvents(s.browser, browser.DownloadWillBegin)
	go func() {
		for _, err := range downloads {
			if err == nil {
				s.refused.Store(&downloadText)
			}
		}
	}()
	return s.openTab()
}

// Texts for details of steps that a page used for what it may not do.
var (
	windowText   = "the page opened a new window, which was closed"
	downloadText = "the page began a download, which was refused"
)

// openTab replaces the tab.
func (s *session) openTab() error {
	parent, drop := context.WithCancelCause(s.browser)
	tab, _ := chromedp.NewContext(parent)
	s.tab, s.drop = tab, drop
	if err := chromedp.Do(tab); err != nil {
		return err
	}
	crashes, dialogs := chromedp.Events(tab, inspector.TargetCrashed), chromedp.Events(tab, page.JavascriptDialogOpening)
	go func() {
		for _, err := range crashes {
			if err == nil {
				drop(errCrashed)
			}
		}
	}()
	go func() {
		for e, err := range dialogs {
			if err == nil { // a page that may refuse to be left could block navigation for ever
				leave := page.HandleJavaScriptDialogParams{Accept: e.Type == page.DialogTypeBeforeunload}
				_, _ = chromedp.Call(tab, page.HandleJavaScriptDialog, leave)
			}
		}
	}()
	return nil
}

// step returns a context for one step in the tab, which ends with ctx, after limit, or when the page crashes.
func (s *session) step(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	step, cancel := context.WithTimeoutCause(s.tab, limit, errTimeUp)
	stop := context.AfterFunc(ctx, cancel)
	return step, func() {
		stop()
		cancel()
	}
}

// take waits until no other call uses the session.
func (s *session) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-s.closed:
		return errEnded
	case <-ctx.Done():
		return domain.Fail(common.Timeout, "the session is busy with another call", ctx.Err())
	}
}

// stoppedBy returns why a step of a call was stopped.
func (s *session) stoppedBy(call context.Context) error {
	switch {
	case errors.Is(call.Err(), context.Canceled):
		return call.Err()
	case s.browser.Err() != nil:
		return errGone
	case errors.Is(context.Cause(s.tab), errCrashed):
		return errCrashed
	}
	return errTimeUp
}

// settleTimeout is how long a page may take to stop before its tab is replaced.
const settleTimeout = 2 * time.Second

// restore makes the session usable again after a step was stopped: it stops scripts and loads, and replaces a tab that
// still does not answer.
func (s *session) restore() {
	s.lost = "the page before crashed"
	if s.tab.Err() == nil {
		ctx, cancel := context.WithTimeout(s.tab, settleTimeout)
		defer cancel()
		go func() { _, _ = chromedp.Call(ctx, page.StopLoading, cdp.Empty{}) }() // it waits for the page
		_, _ = chromedp.Call(ctx, runtime.TerminateExecution, cdp.Empty{})
		if _, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"}); err == nil {
			return
		}
		s.lost = "the page before did not stop in time"
	}
	s.drop(nil)
	if err := s.openTab(); err != nil {
		s.end("its page could not be replaced")
	}
}

// shown returns the frame of the page, or why none is shown: the tab shows an error page of Chromium, or a blank page
// instead of one that was lost.
func (s *session) shown(ctx context.Context) (*cdp.Frame, error) {
	tree, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return nil, err
	}
	f := tree.FrameTree.Frame
	switch {
	case f.UnreachableURL != "":
		return nil, navFailure(s.proxy, f.UnreachableURL, "")
	case !mayShow(f.URL):
		return nil, &navError{text: errBlockedText}
	case s.lost != "" && !strings.HasPrefix(f.URL, "http"):
		return nil, &lostError{s.lost}
	}
	return f, nil
}

// navFailed returns the error for a navigation that has failed with text. The error page names the address that failed,
// which may be that of a redirect.
func (s *session) navFailed(ctx context.Context, address, text string) error {
	var nav *navError
	if _, err := s.shown(ctx); text != "net::ERR_ABORTED" && errors.As(err, &nav) && nav.cause != nil {
		return nav
	}
	return navFailure(s.proxy, address, text)
}

// touch records that the session is used now.
func (s *session) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
}

// idle returns the time since the session was last used.
func (s *session) idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.used)
}

// over returns why the session has ended, or "".
func (s *session) over() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" && s.browser.Err() != nil {
		return diedText
	}
	return s.reason
}

// end releases all resources of the session. Later calls get reason as the reason.
func (s *session) end(reason string) {
	s.closing.Do(func() {
		s.mu.Lock()
		s.reason = reason
		s.mu.Unlock()
		s.stop()
		s.proxy.close()
		s.profile.Remove()
		close(s.closed)
	})
	<-s.closed
}

// lostError is the error for calls to a tab whose page was lost.
type lostError struct{ reason string }

func (e *lostError) Error() string { return "no page is open: " + e.reason }
