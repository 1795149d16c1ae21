package report_test

import (
	"context"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/testing/chromium"
)

// tab is a page in a real browser. It subscribes to console and requests before the page is opened; quiet reads them.
type tab struct {
	t        *testing.T
	ctx      context.Context
	address  string
	console  iter.Seq2[chromedp.ConsoleMessage, error]
	requests iter.Seq2[network.EventRequestWillBeSent, error]
}

// browser is the browser of all tests, which have a tab each; TestMain ends it.
var browser struct {
	sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.cancel != nil {
		browser.cancel()
	}
	os.Exit(code)
}

func startBrowser(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // CI runs as root, which the sandbox refuses; the page is trusted
		chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	browser.ctx, _ = chromedp.NewContext(ctx)
	browser.cancel, browser.err = cancel, chromedp.Do(browser.ctx)
}

// open writes a report as a page and opens it from disk.
func open(t *testing.T, r *probe.Report) *tab {
	t.Helper()
	program := chromium.Path(t)
	browser.Do(func() { startBrowser(program) })
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(write(t, report.FormatHTML, r, report.Options{})), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(browser.ctx, 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	page := &tab{t: t, ctx: ctx, address: (&url.URL{Scheme: "file", Path: path}).String()}
	page.console = chromedp.Console(ctx)
	page.requests = chromedp.Events(ctx, network.RequestWillBeSent)
	page.do(chromedp.Navigate(page.address), chromedp.WaitReady(chromedp.CSS("body")))
	if !value[bool](page, `document.documentElement.classList.contains("js")`) {
		t.Fatal("the page's own script does not run")
	}
	return page
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// value returns the value of a JavaScript expression.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *tab) number(expression string) int  { return value[int](p, expression) }
func (p *tab) text(expression string) string { return value[string](p, expression) }

func (p *tab) visible(selector string) int {
	p.t.Helper()
	return p.number("[...document.querySelectorAll(" + quote(selector) + ")].filter(e => e.checkVisibility({contentVisibilityAuto: true})).length")
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// want compares two numbers; what names them in the error.
func (p *tab) want(what string, got, want int) {
	p.t.Helper()
	if got != want {
		p.t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// quiet fails the test if the page logged anything or made a request. It reads both up to a marker of the test, so that
// it misses no event and does not wait. It must be the last use of a page.
func (p *tab) quiet() {
	p.t.Helper()
	value[any](p, `console.log("the end")`)
	for message, err := range p.console {
		if err != nil {
			p.t.Fatal(err)
		}
		if message.Text == "the end" {
			break
		}
		p.t.Errorf("the browser complains: %s", message.Text)
	}
	p.do(chromedp.Reload())
	opened := 0
	for request, err := range p.requests {
		if err != nil {
			p.t.Fatal(err)
		}
		switch address := request.Request.URL; {
		case address == p.address:
			opened++
		case !strings.HasPrefix(address, "data:"):
			p.t.Errorf("the page asked for %s", address)
		}
		if opened == 2 {
			break
		}
	}
}

func TestPageFiltersWork(t *testing.T) {
	r := sample(t)
	p := open(t, r)
	rows, findings := len(r.Tools)+1, len(r.Findings)
	p.want("rows", p.visible("#tools tbody tr"), rows)
	p.want("findings", p.visible("#finding-list article"), findings)
	p.want("bars of tools", p.visible("#chart svg.bar"), rows)
	p.want("bars of severities", p.visible(".pair svg.bar"), 4)
	p.want("the ring of the grade", p.visible("header svg .arc"), 1)
	p.want("bars without any width", p.number(`[...document.querySelectorAll("svg.bar rect")].filter(e => e.getBoundingClientRect().width <= 0).length`), 0)

	t.Run("tools by text", func(t *testing.T) {
		p.do(chromedp.SendKeys(chromedp.CSS("#tool-filter [name=text]"), "MERKLE"))
		p.want("rows", p.visible("#tools tbody tr"), 1)
		if got := p.text(`document.querySelector("#tool-filter .shown").textContent`); got != "1 of 10" {
			t.Errorf("the count says %q", got)
		}
		p.do(chromedp.SendKeys(chromedp.CSS("#tool-filter [name=text]"), "zzz"))
		p.want("rows", p.visible("#tools tbody tr"), 0)
		p.want("the word that there is none", p.visible(".none"), 1)
		p.choose("#tool-filter [name=text]", "")
		p.want("rows", p.visible("#tools tbody tr"), rows)
	})
	t.Run("tools by pattern and grade", func(t *testing.T) {
		p.choose("#tool-filter [name=pattern]", "both")
		p.want("rows with both", p.visible("#tools tbody tr"), 3)
		p.choose("#tool-filter [name=grade]", "C")
		p.want("rows with both and C", p.visible("#tools tbody tr"), 1)
		p.choose("#tool-filter [name=grade]", "")
		p.choose("#tool-filter [name=pattern]", "m-text")
		p.want("rows with masked text", p.visible("#tools tbody tr"), 2)
		p.choose("#tool-filter [name=pattern]", "")
		p.want("rows", p.visible("#tools tbody tr"), rows)
	})
	t.Run("findings by severity, tool and text", func(t *testing.T) {
		p.do(chromedp.Click(chromedp.CSS(`#finding-filter [value=critical]`)))
		p.want("findings that are not critical", p.visible("#finding-list article"), 7)
		p.want("critical ones", p.visible("article[data-severity=critical]"), 0)
		p.do(chromedp.Click(chromedp.CSS(`#finding-filter [value=critical]`)))
		server := p.text(`[...document.querySelectorAll("#finding-filter [name=tool] option")].find(o => o.textContent === "the server").value`)
		p.choose("#finding-filter [name=tool]", server)
		p.want("findings on the server", p.visible("#finding-list article"), 4)
		p.choose("#finding-filter [name=tool]", "")
		p.do(chromedp.SendKeys(chromedp.CSS("#finding-filter [name=text]"), "retry-after"))
		p.want("findings with the word", p.visible("#finding-list article"), 1)
		p.choose("#finding-filter [name=text]", "")
		p.want("findings", p.visible("#finding-list article"), findings)
	})
	p.quiet()
}

// choose sets a field and fires the change event, as a user does.
func (p *tab) choose(selector, value string) {
	p.t.Helper()
	p.do(chromedp.Evaluate[chromedp.Void]("(e => { e.value = " + quote(value) + "; e.dispatchEvent(new Event('input', {bubbles: true})) })(document.querySelector(" + quote(selector) + "))"))
}

func TestPageWorksByKeyboard(t *testing.T) {
	p := open(t, sample(t))
	first := func() string { return p.text(`document.querySelector("#tools tbody tr th bdi").textContent`) }
	p.do(chromedp.Focus(chromedp.CSS("#tools thead th:last-child button")), chromedp.KeyEvent("\r"))
	if got := first(); got != "router_call" {
		t.Errorf("by findings, the first tool is %q", got)
	}
	p.do(chromedp.KeyEvent("\r"))
	if got := first(); got == "router_call" {
		t.Error("the second stroke does not turn the order round")
	}
	p.want("evidence before", p.visible("article pre"), 0)
	p.do(chromedp.Focus(chromedp.CSS("article summary")), chromedp.KeyEvent("\r"))
	if p.visible("article pre") == 0 {
		t.Error("the evidence does not open")
	}
	p.do(chromedp.Focus(chromedp.CSS("article .copy")), chromedp.KeyEvent("\r"),
		chromedp.Poll[chromedp.Void](`document.querySelector("article .copy").textContent !== "Copy"`))
	p.quiet()
}

// TestHostileTextDoesNothingInABrowser checks that text of a server stays text: it creates no element, runs no script
// and does not change the page.
func TestHostileTextDoesNothingInABrowser(t *testing.T) {
	r := sample(t)
	evil := `"'><script>document.title='owned'</script><img src=https://evil.example/x onerror="document.title='owned'">` + "\u202e</style></title>{{.}}"
	r.Server = probe.Server{Name: evil, Version: evil, Protocol: evil, Transport: evil, Target: evil}
	r.Rules, r.Dialect, r.Incomplete, r.Grade = evil, evil, evil, probe.Grade(evil)
	r.Raise = []string{evil}
	r.Skipped = []probe.Skip{{Tool: evil, What: evil, Reason: evil}}
	r.Tools = []probe.ToolReport{{
		Tool: evil, Grade: probe.Grade(evil), Patterns: map[probe.Pattern]int{probe.Pattern(evil): 1, probe.PatternText: 1}, Dialects: []string{evil},
		Kinds: []string{evil}, Codes: []string{evil}, Retry: evil, Field: evil, Raise: []string{evil}, Skipped: evil,
	}}
	r.Applied = []probe.Rule{{ID: evil, Title: evil, Reason: evil, Clause: evil, Fix: evil, Severity: probe.Severity(evil), Sets: []string{evil}}}
	r.Findings = []probe.Finding{{
		Rule: evil, Severity: probe.Severity(evil), Tool: evil, Field: evil, Message: evil, Fix: evil,
		Evidence: []probe.Evidence{{Case: evil, Request: evil, Response: evil}},
	}}
	p := open(t, r)
	p.want("scripts", p.number(`document.scripts.length`), 1)
	p.want("pictures", p.number(`document.images.length`), 0)
	p.want("styles", p.number(`document.querySelectorAll("style").length`), 1)
	p.want("rows", p.visible("#tools tbody tr"), len(r.Tools)+1)
	if title := p.text("document.title"); !strings.HasPrefix(title, `"'><script>`) || strings.ContainsRune(title, '\u202e') {
		t.Errorf("the title is %q", title)
	}
	p.quiet()
}
