package browser

import (
	"testing"
)

// A page may ask to stay when it is left. It is left anyway: otherwise it could keep the session for ever.
func TestPageCannotKeepTheSession(t *testing.T) {
	k, session := sharedKit(t)
	fine := k.site.page("/fine", "<title>fine</title>fine")
	stay := k.site.page("/stay", `<title>stay</title><button id=b>b</button><a id=a href="/fine">a</a>
		<script>onbeforeunload=e=>{e.preventDefault();return "x"}</script>`)
	for _, leave := range []func() map[string]any{
		func() map[string]any { return k.call(t, "pw/navigate", args{"session": session, "url": fine}) },
		func() map[string]any { return k.call(t, "pw/click", args{"session": session, "selector": "#a"}) },
	} {
		k.call(t, "pw/navigate", args{"session": session, "url": stay})
		k.call(t, "pw/click", args{"session": session, "selector": "#b"}) // without it Chromium does not ask
		if p := pageOf(t, leave()); p["title"] != "fine" {
			t.Errorf("the page is %v", p)
		}
	}
}
