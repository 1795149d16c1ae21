package console_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// active is text that would set window.owned or open a dialog if it were more than text.
var active = []string{
	`<script>window.owned = 1; alert(1)</script>`,
	`"'><img src=x onerror="window.owned = 1; alert(2)"><svg onload="window.owned = 1">`,
	`</title></small></textarea></script><iframe srcdoc="<script>parent.owned = 1</script>"></iframe>`,
	`javascript:window.owned=1;alert(3)`, `{{.Dir}}<template><slot>`,
	"\x1b]0;owned\x07\x1b[2J\x1b[31mred", "\u202e\u2066txt.exe\u2069\u200b\u2028\ufeff",
}

// ownNodes are the elements that could be added by text: the console has one script, one picture, and no frame.
const ownNodes = `[document.scripts.length, document.images.length, frames.length, document.querySelectorAll("style, template, object, [onload], [onerror]").length, "owned" in window].join()`

func TestHostileTextDoesNothingInABrowser(t *testing.T) {
	s := open(t, console.Options{Rules: &fakeRules{}})
	s.add(failed{server: "shop", tool: "search", said: "before"})
	p := s.browse("/")
	p.until(`document.getElementById("live").classList.contains("on")`)
	paths := []string{"/", "/ref/ref", "/servers", "/?q=%3Cscript%3Ewindow.owned%3D1%3C%2Fscript%3E&server=%22%3E%3Cimg+src%3Dx+onerror%3D%22window.owned%3D1%22%3E"}
	for _, text := range active {
		at := s.add(failed{server: text, tool: text, said: text, session: text, suspected: strings.HasPrefix(text, "<script>")})
		paths = append(paths, fmt.Sprintf("/failure/%s/%d", at.Chain, at.Seq))
	}
	p.until(fmt.Sprintf(`document.querySelectorAll("#rows tr").length === %d`, len(active)+1)) // added by the script of the page
	p.want("the nodes after live rows", value[string](p, ownNodes), "1,1,0,0,false")
	shown := p.text("#rows")
	p.want("the live text", strings.Contains(shown, active[0]) && strings.Contains(shown, `<img src=x onerror=`), true)
	for _, path := range append(paths, value[[]string](p, `[...document.querySelectorAll("#rows a.sub")].map((a) => a.getAttribute("href"))`)...) {
		p.open(path)
		p.want("the nodes of "+path, value[string](p, ownNodes), "1,1,0,0,false")
		p.want("links of "+path+" with a script", p.number(`[...document.links].filter((a) => !/^https?:$/.test(a.protocol)).length`), 0)
		for _, r := range p.text("body") + value[string](p, "document.title") {
			if r == 0x1b || r == 7 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("%s contains the character %U", path, r)
				break
			}
		}
	}
	p.quiet()
}

// TestManyToolNamesAreBounded has a server that calls each of its tools by another name.
func TestManyToolNamesAreBounded(t *testing.T) {
	const names = 5_000
	s := open(t, console.Options{})
	var all sync.WaitGroup
	const callers = 250 // share each sync of the ledger
	for i := range callers {
		all.Go(func() {
			for n := range names / callers {
				e := candor.New(candor.CodeNotFound, "no", candor.WithTool(fmt.Sprintf("tool_%d_%d", i, n)))
				if _, err := s.ledger.Append(context.Background(), ledger.FailureEntry(candor.Failure{Error: e, Upstream: "shop", Verdict: "tool"})); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	wait.Until(t, "all failures in the console", func() bool {
		sum, err := s.store.Summarize(context.Background(), failures.Filter{})
		return err == nil && sum.Total == names
	})
	for _, path := range []string{"/", "/?server=shop", "/servers", "/tool/shop/tool_7_7", "/?tool=tool_7_7", "/?q=tool_7_7", "/api/v1/summary"} {
		if body := s.get(path); len(body) > 100_000 {
			t.Errorf("%s has %d bytes", path, len(body))
		}
	}
	contains(t, s.get("/?tool=tool_7_7"), `id="n-failures">1<`)
	contains(t, s.get("/"), `id="n-failures">5,000<`)
}
