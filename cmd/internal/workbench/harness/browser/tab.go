package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// errCrashed is the error for calls to a tab whose page has crashed.
var errCrashed = errors.New("the page crashed")

// failureDelay is how long after the error page the reason for a failure may arrive.
const failureDelay = 200 * time.Millisecond

// lostError is the error for calls to a tab whose page was lost.
type lostError struct{ reason string }

func (e *lostError) Error() string { return "no page is open: " + e.reason }

// tab is a page of a Chromium, with the state known from its events.
type tab struct {
	endpoint
	target target.ID

	mu      sync.Mutex
	state   tabState
	changed chan struct{} // closed when the state changes
}

// tabState is the state of the document of a tab.
type tabState struct {
	loader      cdp.LoaderID
	documents   []shownDocument // the most recent ones, including the current one
	url         string
	unreachable string // URL that could not be loaded, if an error page is shown
	reason      string // the reason, a net::ERR text; may arrive later
	loading     bool
	stopped     bool // loading has stopped since the document was shown

	status  int64  // of the HTTP response with the document
	lost    string // why a blank page is shown instead of a document
	crashed bool

	request   network.RequestID // last request for a document
	requested string            // its URL
	failed    string            // why it failed, a net::ERR text
	answered  cdp.LoaderID      // the document of its HTTP response, which may never be shown
	answer    int64             // the status of that response
}

// shownDocument is the state of a document that a tab shows or has shown. Events of a document that is being replaced
// mix with those of the next one, so each has separate milestones.
type shownDocument struct {
	loader     cdp.LoaderID
	milestones []string
}

// Limits of the memory of a tab.
const (
	maxDocuments  = 8
	maxMilestones = 32
)

// knows reports whether a document is or was shown, even if another one replaced it at once.
func (s *tabState) knows(loader cdp.LoaderID) bool {
	return slices.ContainsFunc(s.documents, func(d shownDocument) bool { return d.loader == loader })
}

// reached reports whether a document, or one that came after it, has reached a milestone.
func (s *tabState) reached(loader cdp.LoaderID, milestone string) bool {
	first := slices.IndexFunc(s.documents, func(d shownDocument) bool { return d.loader == loader })
	return first >= 0 && slices.ContainsFunc(s.documents[first:], func(d shownDocument) bool { return slices.Contains(d.milestones, milestone) })
}

// reach records a milestone. Slices are not changed in place, because snapshots share them.
func (s *tabState) reach(loader cdp.LoaderID, milestone string) {
	s.documents = slices.Clone(s.documents)
	for i := range s.documents {
		if d := &s.documents[i]; d.loader == loader && len(d.milestones) < maxMilestones {
			d.milestones = append(slices.Clone(d.milestones), milestone)
		}
	}
}

// show changes to another document.
func (s *tabState) show(loader cdp.LoaderID) {
	if s.loader == loader {
		return
	}
	s.loader, s.stopped, s.status, s.reason = loader, false, 0, ""
	if !s.knows(loader) {
		s.documents = append(slices.Clone(s.documents[max(0, len(s.documents)-maxDocuments+1):]), shownDocument{loader: loader})
	}
	if s.answered == loader {
		s.status = s.answer
	}
}

func newTab(c *client, id target.SessionID, t target.ID) *tab {
	return &tab{endpoint: endpoint{c, id}, target: t, changed: make(chan struct{})}
}

// frame returns the id of the main frame, which is the id of the target.
func (t *tab) frame() cdp.FrameID { return cdp.FrameID(t.target) }

// prepare enables the events and restrictions of the tab, and lets it run.
func (t *tab) prepare(ctx context.Context) error {
	yes, little := true, int64(1)
	return errors.Join(
		run(ctx, t.endpoint, page.Enable, page.EnableParams{}),
		run(ctx, t.endpoint, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true}),
		run(ctx, t.endpoint, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true, Cancel: &yes}),
		run(ctx, t.endpoint, inspector.Enable, cdp.Empty{}),
		run(ctx, t.endpoint, network.Enable, network.EnableParams{
			MaxTotalBufferSize: &little, MaxResourceBufferSize: &little, MaxPostDataSize: &little,
		}),
		run(ctx, t.endpoint, runtime.RunIfWaitingForDebugger, cdp.Empty{}),
	)
}

// snapshot returns the state and a channel that is closed when it changes.
func (t *tab) snapshot() (tabState, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state, t.changed
}

// update changes the state.
func (t *tab) update(change func(*tabState)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.state)
	close(t.changed)
	t.changed = make(chan struct{})
}

// wait waits until good returns true.
func (t *tab) wait(ctx context.Context, good func(*tabState) bool) (tabState, error) {
	for {
		state, changed := t.snapshot()
		if state.crashed {
			return state, errCrashed
		}
		if good(&state) {
			return state, nil
		}
		select {
		case <-changed:
		case <-t.client.done:
			return state, errGone
		case <-ctx.Done():
			return state, context.Cause(ctx)
		}
	}
}

// check returns why the tab does not show a requested document, or nil: it shows an error page of Chromium, or the
// blank page that has replaced a lost page. Returning one of those as a success would be wrong.
func (t *tab) check(ctx context.Context, p *proxy) error {
	state, _ := t.snapshot()
	if state.lost != "" {
		return &lostError{state.lost}
	}
	if state.unreachable == "" {
		return nil
	}
	moment, cancel := context.WithTimeout(ctx, failureDelay)
	defer cancel()
	state, _ = t.wait(moment, func(s *tabState) bool { return s.reason != "" })
	return navFailure(p, state.unreachable, state.reason)
}

// hasCrashed reports whether the process of the page has crashed.
func (t *tab) hasCrashed() bool {
	state, _ := t.snapshot()
	return state.crashed
}

// untilCrash returns a context that ends with errCrashed when the page crashes.
func (t *tab) untilCrash(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if _, err := t.wait(ctx, func(*tabState) bool { return false }); errors.Is(err, errCrashed) {
			cancel(errCrashed)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// onEvent handles an event. It does not wait for Chromium.
func (t *tab) onEvent(m *cdproto.Message, secret string) {
	switch string(m.Method) {
	case page.FrameNavigated.Method:
		on(m, page.FrameNavigated, t.onFrameNavigated)
	case page.LifecycleEvent.Method:
		on(m, page.LifecycleEvent, t.onLifecycle)
	case page.NavigatedWithinDocument.Method:
		on(m, page.NavigatedWithinDocument, func(e page.EventNavigatedWithinDocument) {
			if e.FrameID == t.frame() {
				t.update(func(s *tabState) { s.url = e.URL })
			}
		})
	case page.FrameStartedLoading.Method:
		on(m, page.FrameStartedLoading, func(e page.EventFrameStartedLoading) { t.onLoading(e.FrameID, true) })
	case page.FrameRequestedNavigation.Method:
		on(m, page.FrameRequestedNavigation, t.onRequestedNavigation)
	case page.FrameStoppedLoading.Method:
		on(m, page.FrameStoppedLoading, func(e page.EventFrameStoppedLoading) { t.onLoading(e.FrameID, false) })
	case network.RequestWillBeSent.Method:
		on(m, network.RequestWillBeSent, t.onRequest)
	case network.ResponseReceived.Method:
		on(m, network.ResponseReceived, t.onResponse)
	case network.LoadingFailed.Method:
		on(m, network.LoadingFailed, t.onLoadingFailed)
	case page.JavascriptDialogOpening.Method:
		on(m, page.JavascriptDialogOpening, func(e page.EventJavascriptDialogOpening) { t.answerDialog(e.Type) })
	case inspector.TargetCrashed.Method:
		t.update(func(s *tabState) { s.crashed = true })
	case fetch.RequestPaused.Method:
		on(m, fetch.RequestPaused, func(e fetch.EventRequestPaused) {
			soon(func(ctx context.Context) error {
				return run(ctx, t.endpoint, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			})
		})
	case fetch.AuthRequired.Method:
		on(m, fetch.AuthRequired, func(e fetch.EventAuthRequired) { t.onSignIn(e, secret) })
	}
}

// answerDialog closes a dialog. Alerts, confirmations and prompts are dismissed. Beforeunload dialogs are accepted:
// otherwise a page could block navigation for ever.
func (t *tab) answerDialog(kind page.DialogType) {
	leave := kind == page.DialogTypeBeforeunload
	soon(func(ctx context.Context) error {
		return run(ctx, t.endpoint, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: leave})
	})
}

// on decodes an event and calls handle. Events that cannot be decoded are skipped.
func on[E any](m *cdproto.Message, _ cdp.Event[E], handle func(E)) {
	var e E
	if err := jsonv2.Unmarshal(m.Params, &e, chromedp.DefaultUnmarshalOptions); err == nil {
		handle(e)
	}
}

// soon runs a command without waiting for it.
func soon(command func(context.Context) error) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = command(ctx) // the tab may be closed already
	}()
}

func (t *tab) onFrameNavigated(e page.EventFrameNavigated) {
	if e.Frame == nil || e.Frame.ID != t.frame() {
		return
	}
	t.update(func(s *tabState) {
		s.show(e.Frame.LoaderID)
		s.url, s.unreachable = e.Frame.URL+e.Frame.URLFragment, e.Frame.UnreachableURL
		if s.unreachable != "" && s.reason == "" {
			s.reason = s.failed
		}
		if strings.HasPrefix(s.url, "http") || s.unreachable != "" {
			s.lost = ""
		}
	})
	if !mayShow(e.Frame.URL) {
		t.update(func(s *tabState) {
			s.unreachable, s.failed, s.lost = e.Frame.URL, errBlockedText, "the page before left for an address that is not opened"
		})
		soon(func(ctx context.Context) error {
			return run(ctx, t.endpoint, page.Navigate, page.NavigateParams{URL: "about:blank"})
		})
	}
}

// onRequestedNavigation records that a page tries to navigate to a URL that Chromium blocks. Such a page may never
// finish loading.
func (t *tab) onRequestedNavigation(e page.EventFrameRequestedNavigation) {
	if e.FrameID == t.frame() && !mayShow(e.URL) && !strings.HasPrefix(e.URL, "javascript:") {
		t.onLoading(e.FrameID, false)
	}
}

// mayShow reports whether a tab may show a URL. Chromium itself blocks local files and its own pages; this check covers
// the rest.
func mayShow(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https", "chrome-error":
		return true
	case "about":
		return u.Opaque == "blank" || u.Opaque == "srcdoc"
	}
	return address == "" // a document without a URL yet
}

func (t *tab) onLifecycle(e page.EventLifecycleEvent) {
	if e.FrameID != t.frame() {
		return
	}
	t.update(func(s *tabState) {
		if !s.knows(e.LoaderID) {
			s.show(e.LoaderID) // it may arrive before the end of the navigation is reported
		}
		s.reach(e.LoaderID, e.Name)
	})
}

func (t *tab) onLoading(frame cdp.FrameID, loading bool) {
	if frame == t.frame() {
		t.update(func(s *tabState) { s.loading, s.stopped = loading, !loading })
	}
}

func (t *tab) onRequest(e network.EventRequestWillBeSent) {
	if e.Type == network.ResourceTypeDocument && e.FrameID == t.frame() && e.Request != nil {
		t.update(func(s *tabState) { s.request, s.requested, s.failed = e.RequestID, e.Request.URL, "" })
	}
}

func (t *tab) onResponse(e network.EventResponseReceived) {
	if e.Type != network.ResourceTypeDocument || e.FrameID != t.frame() || e.Response == nil {
		return
	}
	t.update(func(s *tabState) {
		if s.answered, s.answer = e.LoaderID, e.Response.Status; s.loader == e.LoaderID {
			s.status = s.answer
		}
	})
}

func (t *tab) onLoadingFailed(e network.EventLoadingFailed) {
	if e.Type != network.ResourceTypeDocument {
		return
	}
	t.update(func(s *tabState) {
		if s.request == e.RequestID { // not a request of a frame
			s.failed = e.ErrorText
		}
		if s.loader == cdp.LoaderID(e.RequestID) {
			s.reason = e.ErrorText
		}
	})
}

// onSignIn answers the proxy's request for a password. Only requests to the proxy itself are paused for it.
func (t *tab) onSignIn(e fetch.EventAuthRequired, secret string) {
	answer := &fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseCancelAuth}
	if e.AuthChallenge != nil && e.AuthChallenge.Source == fetch.AuthChallengeSourceProxy {
		answer = &fetch.AuthChallengeResponse{
			Response: fetch.AuthChallengeResponseResponseProvideCredentials, Username: proxyUser, Password: secret,
		}
	}
	soon(func(ctx context.Context) error {
		return run(ctx, t.endpoint, fetch.ContinueWithAuth, fetch.ContinueWithAuthParams{RequestID: e.RequestID, AuthChallengeResponse: answer})
	})
}

// signIn makes Chromium authenticate to the proxy.
func (t *tab) signIn(ctx context.Context) error {
	yes := true
	address := "http://" + signInHost + "/"
	err := run(ctx, t.endpoint, fetch.Enable, fetch.EnableParams{
		Patterns: []*fetch.RequestPattern{{URLPattern: address + "*"}}, HandleAuthRequests: &yes,
	})
	if err != nil {
		return err
	}
	if err := t.show(ctx, address); err != nil {
		return fmt.Errorf("using the proxy: %w", err)
	}
	if err := run(ctx, t.endpoint, fetch.Disable, cdp.Empty{}); err != nil {
		return err
	}
	if err := t.show(ctx, "about:blank"); err != nil {
		return err
	}
	return run(ctx, t.endpoint, page.ResetNavigationHistory, cdp.Empty{})
}

// show opens a page that the client did not request.
func (t *tab) show(ctx context.Context, address string) error {
	result, err := cdp.Call(ctx, t.endpoint, page.Navigate, page.NavigateParams{URL: address})
	if err != nil {
		return err
	}
	if result.ErrorText != "" {
		return errors.New(result.ErrorText)
	}
	_, err = t.wait(ctx, func(s *tabState) bool { return s.reached(result.LoaderID, "load") })
	return err
}
