package console_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/internal/testing/chromium"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// browser is the browser of all tests, which have a tab each; TestMain ends it.
var browser struct {
	sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

func TestMain(m *testing.M) {
	if load.Wanted() { // as the server of a benchmark
		os.Exit(load.Main())
	}
	code := m.Run()
	if browser.cancel != nil {
		browser.cancel()
	}
	os.Exit(code)
}

func startBrowser(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // CI runs as root, which the sandbox refuses; the pages are those of the test
		chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	browser.ctx, _ = chromedp.NewContext(ctx)
	browser.cancel, browser.err = cancel, chromedp.Do(browser.ctx)
}

// tab is a tab of a real browser. It subscribes to console and dialogs before a page is opened; quiet reads them.
type tab struct {
	t       *testing.T
	site    *site
	ctx     context.Context
	console iter.Seq2[chromedp.ConsoleMessage, error]
	dialogs iter.Seq2[page.EventJavascriptDialogOpening, error]
}

// browse opens a page of the console in a new tab.
func (s *site) browse(path string) *tab {
	s.t.Helper()
	program := chromium.Path(s.t)
	browser.Do(func() { startBrowser(program) })
	if browser.err != nil {
		s.t.Fatal(browser.err)
	}
	ctx, cancel := context.WithTimeout(browser.ctx, 5*time.Minute)
	s.t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	s.t.Cleanup(cancel)
	set := network.SetCookieParams{Name: s.cookie.Name, Value: s.cookie.Value, URL: s.http.URL, SameSite: network.CookieSameSiteStrict}
	if _, err := chromedp.Call(ctx, network.SetCookie, set); err != nil {
		s.t.Fatal(err)
	}
	p := &tab{t: s.t, site: s, ctx: ctx, console: chromedp.Console(ctx), dialogs: chromedp.Events(ctx, page.JavascriptDialogOpening)}
	p.open(path)
	return p
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) open(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.site.http.URL+path), chromedp.WaitReady(chromedp.CSS("#main")))
}

// follow does what leads to another page, and waits for that page.
func (p *tab) follow(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.run(`document.documentElement.dataset.left = "no"`)
	p.do(steps...)
	p.until(`document.readyState === "complete" && !document.documentElement.dataset.left`)
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.follow(chromedp.Click(chromedp.CSS(selector)))
}

// value returns the value of a JavaScript expression, which may be a promise.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

func (p *tab) run(expression string)        { p.t.Helper(); value[any](p, "void ("+expression+")") }
func (p *tab) number(expression string) int { p.t.Helper(); return value[int](p, expression) }
func (p *tab) text(selector string) string  { p.t.Helper(); return p.property(selector, "innerText") }
func (p *tab) location() string {
	p.t.Helper()
	return value[string](p, "location.pathname + location.search")
}
func (p *tab) property(selector, property string) string {
	p.t.Helper()
	return value[string](p, "document.querySelector("+quoteJSON(selector)+")."+property)
}

func (p *tab) visible(selector string) int {
	p.t.Helper()
	return p.number("[...document.querySelectorAll(" + quoteJSON(selector) + ")].filter(e => e.checkVisibility({contentVisibilityAuto: true})).length")
}

// until waits until an expression is true. A page that is being left has none.
func (p *tab) until(expression string) {
	p.t.Helper()
	wait.Until(p.t, expression, func() bool {
		ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		return err == nil && ok
	})
}

func (p *tab) want(what string, got, want any) {
	p.t.Helper()
	if got != want {
		p.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// scheme sets the colour scheme, light or dark.
func (p *tab) scheme(scheme string) {
	p.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, params); err != nil {
		p.t.Fatal(err)
	}
}

// quiet fails the test if a page of the tab logged anything, such as a violation of the policy, or opened a dialog. It
// reads both up to a marker, so that it misses no event and does not wait. It must be the last use of a tab.
func (p *tab) quiet() {
	p.t.Helper()
	p.run(`console.log("the end")`)
	for message, err := range p.console {
		if err != nil {
			p.t.Fatal(err)
		}
		if message.Text == "the end" {
			break
		}
		p.t.Errorf("the browser logs: %s", message.Text)
	}
	p.run(`setTimeout(() => alert("the end"))`)
	for dialog, err := range p.dialogs {
		if err != nil {
			p.t.Fatal(err)
		}
		if dialog.Message == "the end" {
			break
		}
		p.t.Errorf("a dialog says %q", dialog.Message)
	}
}

// violation is what axe-core finds wrong.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML, FailureSummary string
	}
}

// violations returns what axe-core finds on the page; with onlyColors it runs only the rules that depend on colours.
func (p *tab) violations(axe string, onlyColors bool) []violation {
	p.t.Helper()
	if !value[bool](p, `"axe" in window`) {
		p.do(chromedp.Evaluate[chromedp.Void](axe))
	}
	var found []violation
	rules := ""
	if onlyColors {
		rules = `, runOnly: ["color-contrast", "link-in-text-block"]`
	}
	text := value[string](p, `axe.run(document, {iframes: false, resultTypes: ["violations"]`+rules+`}).then((r) => JSON.stringify(r.violations))`)
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		p.t.Fatal(err)
	}
	return found
}

func (v *violation) String() string {
	var out strings.Builder
	out.WriteString(v.ID + ": " + v.Help)
	for _, n := range v.Nodes {
		out.WriteString("\n\t" + n.HTML + "\n\t" + n.FailureSummary)
	}
	return out.String()
}
