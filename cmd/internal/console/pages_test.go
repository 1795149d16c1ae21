package console_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/internal/tools/conformance"
)

// everyPage returns a console over a damaged ledger, and the addresses of all kinds of its pages.
func everyPage(t *testing.T) (s *site, pages []string) {
	t.Helper()
	s = open(t, console.Options{Token: token, Rules: &fakeRules{}, Servers: fakeServers{}})
	long := strings.Repeat("a_name_without_any_space_", 8)
	first := s.add(failed{server: long, tool: long, said: strings.Repeat("x", 5000), session: long, code: candor.CodeTimeout})
	s.add(failed{server: "shop", tool: "search", said: "no such customer", session: "s1"})
	s.add(failed{server: "shop", tool: "search", said: "no such order", session: "s1"})
	certain := s.add(failed{server: "files", tool: "read", said: "the disk is full", session: "s1", code: candor.CodeInternalError})
	suspected := s.add(failed{server: "shop", tool: "search", said: `{"ok":false}`, suspected: true})
	if err := s.ledger.Close(); err != nil { // signs a checkpoint
		t.Fatal(err)
	}
	s.verified()
	s.tamper("no such customer", "no such CUSTOMER")
	s.verified()
	return s, []string{
		"/", "/?q=zzz&class=timeout&server=shop", fmt.Sprintf("/failure/%s/%d", certain.Chain, certain.Seq),
		fmt.Sprintf("/failure/%s/%d", suspected.Chain, suspected.Seq), fmt.Sprintf("/failure/%s/%d", first.Chain, first.Seq), "/tool/shop/search", "/tool/" + long + "/" + long,
		"/tool/shop/search/rules?id=abc", "/session/s1", "/servers", "/verify", "/ref/ref", "/login", "/nothing",
	}
}

func TestEveryPageFitsAPhone(t *testing.T) {
	s, pages := everyPage(t)
	p := s.browse("/login")
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	for i, path := range pages {
		p.open(path)
		p.keep(fmt.Sprintf("%02d-phone.png", i))
		if wide := p.number("document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("%s is %d wide on a screen of 360: %s", path, wide, value[string](p, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 361 && !e.closest(".scroll, pre")).map(e => e.outerHTML.slice(0, 80)).slice(0, 3).join("\n")`))
		}
		if small := value[string](p, `[...document.querySelectorAll("nav a, button, input, select, summary")].filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 24 && e.type !== "checkbox").map(e => e.outerHTML.slice(0, 80)).join("\n")`); small != "" {
			t.Errorf("%s has controls that are too small to touch: %s", path, small)
		}
	}
}

var screenshots = flag.String("screenshots", "", "folder in which the tests of all pages keep screenshots to look at")

// keep writes a screenshot of the page if the flag asks for it.
func (p *tab) keep(name string) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	const best = 100 // PNG
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(best))
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, name), picture, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestEveryPageIsAccessible runs axe-core on all pages, light and dark.
func TestEveryPageIsAccessible(t *testing.T) {
	box, err := conformance.OpenToolbox()
	if err != nil {
		t.Fatal(err)
	}
	modules, err := box.Modules(conformance.Axe)
	if missing := (*conformance.MissingError)(nil); errors.As(err, &missing) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	s, pages := everyPage(t)
	p := s.browse("/")
	for i, path := range pages {
		p.open(path)
		p.run(`document.querySelectorAll("details").forEach((e) => { e.open = true })`)
		for _, scheme := range []string{"light", "dark"} {
			p.scheme(scheme)
			if dark := value[bool](p, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every((c) => c < 80)`); dark != (scheme == "dark") {
				t.Errorf("%s, %s: the background is %s", path, scheme, value[string](p, `getComputedStyle(document.body).backgroundColor`))
			}
			p.keep(fmt.Sprintf("%02d-%s.png", i, scheme))
			for _, v := range p.violations(string(axe), scheme == "dark") { // the scheme changes only colours
				t.Errorf("%s, %s: %s", path, scheme, &v)
			}
		}
	}
}
