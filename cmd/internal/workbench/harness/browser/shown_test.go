package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/candor-mcp/candor/codes/playwright"
)

// TestRefusedRefreshIsAFailure checks that a page that navigates to a refused address does not look like a page that
// was opened.
func TestRefusedRefreshIsAFailure(t *testing.T) {
	k, session := sharedKit(t)
	server, _ := forbidden(t)
	closed := k.site.handle("/closing", func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	})
	rounds := 1
	if *all {
		rounds = 4
	}
	for name, target := range map[string]string{"forbidden": server.URL + "/", "closed": closed} {
		for way, html := range map[string]string{
			"meta":   fmt.Sprintf(`<meta http-equiv=refresh content="0;url=%s">`, target),
			"script": fmt.Sprintf(`<script>location=%q</script>`, target),
			"later":  fmt.Sprintf(`<script>onload=()=>{location=%q}</script>`, target),
		} {
			address := k.site.page("/refresh-"+name+"-"+way, "<title>page</title>"+html)
			for range rounds {
				result, err := k.try(t.Context(), "pw/navigate", args{"session": session, "url": address})
				if err == nil {
					p := pageOf(t, result)
					if shown, _ := p["url"].(string); shown != address || p["title"] != "page" { // the page itself, before it has navigated
						t.Errorf("%s by %s: %v", name, way, result)
					}
				}
				if result, err = k.try(t.Context(), "pw/content", args{"session": session}); err != nil {
					continue
				}
				if shown, _ := pageOf(t, result)["url"].(string); shown != address {
					t.Errorf("%s by %s: content %v", name, way, result)
				}
			}
		}
	}
}

// TestContentAfterAStoppedNavigation checks that the blank page after a stopped navigation is not returned as the page.
func TestContentAfterAStoppedNavigation(t *testing.T) {
	k, session := sharedKit(t)
	nothing, fine := k.site.noContent(), k.site.page("/fine", "<title>fine</title>fine")
	for name, html := range map[string]string{
		"alerts": "<title>t</title><script>while(1)alert(1)</script>",
		"huge":   "<title>t</title><script>for(;;)document.write('<p>'.repeat(1e5))</script>",
	} {
		if name == "huge" && !*all {
			continue
		}
		address := k.site.page("/stopped-"+name, html)
		k.call(t, "pw/navigate", args{"session": session, "url": fine})
		_, _ = k.fails(t, playwright.Timeout, "pw/navigate", args{"session": session, "url": address, "timeoutMs": 700})
		if result, err := k.try(t.Context(), "pw/content", args{"session": session}); err == nil && name == "huge" {
			if shown := pageOf(t, result)["url"]; shown != address { // it may have stopped in time, with the part that was loaded
				t.Errorf("%s: %v", name, result)
			}
			continue
		}
		for _, method := range []string{"content", "select", "screenshot", "click", "type"} {
			a := args{"session": session, "selector": "title", "text": "x"}
			e, details := k.fails(t, playwright.Nav, "pw/"+method, a)
			if details != `"no page is open: the page before did not stop in time"` || e.Retry().Retryable() {
				t.Errorf("%s, %s: %s", name, method, details)
			}
		}
		_, _ = k.fails(t, playwright.Nav, "pw/navigate", args{"session": session, "url": nothing}) // opens no page either
		_, _ = k.fails(t, playwright.Nav, "pw/content", args{"session": session})
		if p := pageOf(t, k.call(t, "pw/navigate", args{"session": session, "url": fine})); p["title"] != "fine" {
			t.Errorf("after %s: %v", name, p)
		}
	}
}

// TestStatusIsThatOfThePage checks that after a response without content the previous page and its status are returned.
func TestStatusIsThatOfThePage(t *testing.T) {
	k, session := sharedKit(t)
	server, _ := forbidden(t)
	nothing := k.site.noContent()
	fine := k.site.page("/fine204", `<title>fine</title><a href="/nothing">a</a>`)
	k.call(t, "pw/navigate", args{"session": session, "url": fine})
	check := func(after string) {
		t.Helper()
		if result := k.call(t, "pw/content", args{"session": session}); result["status"] != 200.0 || pageOf(t, result)["url"] != fine {
			t.Errorf("after %s: %v", after, result)
		}
	}
	check("navigate")
	_, _ = k.fails(t, playwright.Nav, "pw/navigate", args{"session": session, "url": nothing})
	check("navigating to an answer without content")
	if result := k.call(t, "pw/click", args{"session": session, "selector": "a"}); result["status"] != 200.0 {
		t.Errorf("click: %v", result)
	}
	check("a click on a link to an answer without content")
	for _, method := range []string{"navigate", "content", "screenshot"} { // a page that could not be loaded is not shown
		_, details := k.fails(t, playwright.Nav, "pw/"+method, args{"session": session, "url": server.URL})
		if details != `"`+errDeniedText+`"` {
			t.Errorf("%s: %s", method, details)
		}
	}
	_, _ = k.fails(t, playwright.InvalidSelector, "pw/select", args{"session": session, "selector": "p["})
	_, _ = k.fails(t, playwright.Nav, "pw/select", args{"session": session, "selector": "p"})
}

// noContent serves a response without content and returns its URL.
func (s *site) noContent() string {
	return s.handle("/nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
}
