package console_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
)

func TestBrowserShowsFailureWithinASecondOfItsEntry(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "search", said: "before"})
	p := s.browse("/")
	p.until(`document.getElementById("live").classList.contains("on")`)
	best := time.Hour
	for i := range 30 { // other programs may have the machine for a while
		began := time.Now()
		s.add(failed{server: "shop", tool: "search", said: fmt.Sprintf("live %d", i)})
		p.until(fmt.Sprintf(`document.querySelector("#rows tr").innerText.includes("live %d")`, i))
		if best = min(best, time.Since(began)); best <= time.Second {
			break
		}
	}
	if best > time.Second {
		t.Errorf("the row was shown after %v, want at most a second", best)
	}
	rows := p.visible("#rows tr")
	p.want("the number of failures", p.text("#n-failures"), fmt.Sprint(rows))

	p.do(chromedp.Click(chromedp.CSS("#live-pause")))
	s.add(failed{server: "shop", tool: "search", said: "while paused"})
	p.until(`document.getElementById("live-state").textContent === "Paused, 1 new"`)
	p.want("rows while it is paused", p.visible("#rows tr"), rows)
	p.do(chromedp.Click(chromedp.CSS("#live-pause")))
	p.want("rows after it", p.visible("#rows tr"), rows+1)
	p.quiet()
}

func TestBrowserFiltersAreInTheAddress(t *testing.T) {
	s := open(t, console.Options{})
	for range 3 {
		s.add(failed{server: "shop", tool: "search", said: "no such order"})
	}
	s.add(failed{server: "files", tool: "read", said: "the disk is full", code: candor.CodeInternalError})
	s.add(failed{server: "files", tool: "write", said: "the disk is full", code: candor.CodeTimeout})
	p := s.browse("/")
	p.want("rows", p.visible("#rows tr"), 5)
	p.do(chromedp.SendKeys(chromedp.CSS("#filter [name=server]"), "files"))
	p.click("#filter button")
	p.want("the address", p.location(), "/?server=files")
	p.want("rows", p.visible("#rows tr"), 2)
	p.do(chromedp.Click(chromedp.CSS("#filter summary")))
	p.run(`document.querySelector("#filter [name=class]").value = "timeout"`)
	p.click("#filter button")
	address := p.location()
	p.want("the address", address, "/?server=files&class=timeout")

	colleague := s.browse(address)
	colleague.want("rows of a colleague", colleague.visible("#rows tr"), 1)
	colleague.want("the field of a colleague", colleague.property("#filter [name=server]", "value"), "files")
	colleague.want("the list of a colleague", colleague.property("#filter [name=class]", "value"), "timeout")
	colleague.until(`document.getElementById("live").classList.contains("on")`)
	s.add(failed{server: "shop", tool: "search", said: "of another server", code: candor.CodeTimeout})
	s.add(failed{server: "files", tool: "read", said: "of this view", code: candor.CodeTimeout})
	colleague.until(`document.querySelectorAll("#rows tr").length === 2`)
	colleague.want("new rows", strings.Contains(colleague.text("#rows"), "of this view"), true)

	p.click("#chips li a") // removes the first filter
	p.want("the address without the server", p.location(), "/?class=timeout")
	p.click("#clear")
	p.click("#chart-code li a")
	p.want("the address of a bar", p.location(), "/?code=NOT_FOUND")
	p.want("rows of a bar", p.visible("#rows tr"), 3)
	p.click(".table-of-chart summary, #chart-time a")
	p.want("a column sets the time", strings.Contains(p.location(), "since="), true)
	p.quiet()
	colleague.quiet()
}

func TestBrowserShowsOneFailure(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "get_invoice", said: "Invoice 8 does not exist"})
	s.add(failed{server: "shop", tool: "get_invoice", said: "Invoice 7 does not exist", session: "sess-1"})
	if err := s.ledger.Close(); err != nil { // signs a checkpoint
		t.Fatal(err)
	}
	p := s.browse("/")
	p.click("#rows tr th a")
	p.want("the message", p.text("#message"), "Invoice 7 does not exist")
	if p.visible("#h-said") != 1 || p.visible("#h-got") != 1 || p.visible("pre.side mark") == 0 {
		t.Error("the two sides with their difference are not visible")
	}
	p.want("sides that are beside each other", p.number(`new Set([...document.querySelectorAll("[aria-labelledby=h-texts] .sides > section")].map(e => e.getBoundingClientRect().top)).size`), 1)
	p.want("what other models would have read, before it is opened", p.visible("#read-others pre"), 0)
	p.want("the proof", strings.HasPrefix(p.text("#proof"), "✓ The entry is in the ledger"), true)
	p.want("the entry before it is opened", p.visible("#entry"), 0)
	p.do(chromedp.Click(chromedp.CSS("details:has(#entry) summary")))
	p.want("the entry", p.visible("#entry"), 1)
	p.do(chromedp.Click(chromedp.CSS(".copy")))
	p.until(`document.querySelector(".copy").textContent !== "Copy"`)
	p.click(`#rows tr th a`) // a similar failure
	p.want("the similar failure", p.text("#message"), "Invoice 8 does not exist")
	p.quiet()
}

// tamper changes a text in the ledger.
func (s *site) tamper(from, to string) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "*", "audit-log.jsonl"))
	if err != nil || len(files) != 1 {
		s.t.Fatalf("%d segments, %v", len(files), err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(files[0], bytes.Replace(raw, []byte(from), []byte(to), 1), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func TestBrowserWithoutJavaScript(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "search", said: "no such order"})
	s.add(failed{server: "files", tool: "read", said: "the disk is full"})
	p := s.browse("/login")
	if _, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	p.open("/")
	p.want("scripts that ran", p.number(`document.querySelectorAll("html.js").length`), 0)
	p.want("rows", p.visible("#rows tr"), 2)
	p.want("columns", p.number(`document.querySelectorAll("#chart-time rect").length`) > 0, true)
	p.want("the live feed", p.visible("#live"), 0)
	p.do(chromedp.SendKeys(chromedp.CSS("#filter [name=q]"), "disk"))
	p.click("#filter button")
	p.want("rows", p.visible("#rows tr"), 1)
	p.click("#rows tr th a")
	p.want("the message", p.text("#message"), "the disk is full")
	p.open("/verify")
	p.click("#verify")
	p.until(`document.getElementById("verification").dataset.state === "ok"`) // the page loads itself again until then
}

func TestBrowserByKeyboardOnly(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "search", said: "no such order"})
	s.add(failed{server: "files", tool: "read", said: "the disk is full"})
	p := s.browse("/")
	at := func(selector string) bool {
		return value[bool](p, "document.activeElement.matches("+quoteJSON(selector)+")")
	}
	tabTo := func(selector string) {
		t.Helper()
		for range 60 {
			p.do(chromedp.KeyEvent(kb.Tab))
			if !value[bool](p, `(() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect(); return e === document.body || s.outlineStyle !== "none" && r.width > 0 && r.height > 0 })()`) {
				t.Errorf("the focus is not visible on %s", value[string](p, "document.activeElement.outerHTML.slice(0, 200)"))
			}
			if at(selector) {
				return
			}
		}
		t.Fatalf("the Tab key does not reach %s", selector)
	}
	p.do(chromedp.KeyEvent(kb.Tab))
	p.want("the first stop is the link to the content", at("a.skip"), true)
	p.do(chromedp.KeyEvent(kb.Enter))
	tabTo("#filter [name=q]") // past the links of the header
	p.follow(chromedp.KeyEvent("disk" + kb.Enter))
	p.want("the address", p.location(), "/?q=disk")
	tabTo("#chart-code a")
	tabTo("#live-pause")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.want("paused", p.property("#live-pause", `getAttribute("aria-pressed")`), "true")
	tabTo("#rows tr th a")
	p.follow(chromedp.KeyEvent(kb.Enter))
	p.want("the message", p.text("#message"), "the disk is full")
	tabTo(".copy")
	tabTo("details:has(#entry) summary")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.want("the entry", p.visible("#entry"), 1)
	p.open("/verify")
	tabTo("#verify")
	p.follow(chromedp.KeyEvent(kb.Enter))
	p.until(`document.getElementById("verification").dataset.state === "ok"`)
	p.quiet()
}
