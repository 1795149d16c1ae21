package browser

import (
	"net/http"
	"testing"

	"github.com/candor-mcp/candor/codes/playwright"
)

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
	for _, method := range []string{"navigate", "content"} { // a page that could not be loaded is not shown
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
