package browser

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/playwright"
)

const form = `<title>form</title><h1>Order</h1><p>Some <b>text</b>.</p>
<label for=name>Name</label><input id=name value=old>
<select id=colour><option value=r>red<option value=g>green<option disabled value=b>blue</select>
<select id=off disabled><option>x</select>
<input id=agree type=checkbox><input id=file type=file><input id=fixed readonly value=1><input id=number type=number><input id=day type=date>
<button id=gone disabled onclick="document.title='gone'">Gone</button>
<div style="position:relative;width:200px;height:40px"><button id=under onclick="document.title='under'">Under</button>
<div id=over style="position:absolute;inset:0" onclick="document.title='over'"></div></div>
<button id=hidden style="visibility:hidden">Hidden</button><p id=plain>plain</p>
<a id=new target=_blank href="/next">Next</a><a id=file2 download href="/next">File</a>
<button id=open onclick="window.open('/next')">Open</button><button id=ok onclick="document.title='clicked'">OK</button>
<div id=host></div><script>host.attachShadow({mode:"open"}).innerHTML="<button onclick=\"document.title='shadow'\">Inner</button>"</script>`

// TestStepsWithoutEffectFail uses elements that a person could not use like that.
func TestStepsWithoutEffectFail(t *testing.T) {
	k, session := sharedKit(t)
	k.site.page("/next", "<title>next</title>")
	k.call(t, "pw/navigate", args{"session": session, "url": k.site.page("/form", form)})
	for _, c := range []struct {
		method, selector string
		more             args
		want             candor.Code
		why              string
	}{
		{"click", "#gone", nil, playwright.Timeout, "disabled"},
		{"click", "#under", nil, playwright.Timeout, "covers"},
		{"click", "#hidden", nil, playwright.Timeout, "not visible"},
		{"click", "#nothing", nil, playwright.Timeout, "no element matches"},
		{"click", "option", nil, playwright.InvalidSelector, "select_option"},
		{"click", "ref=e999", nil, playwright.InvalidSelector, "snapshot"},
		{"click", "#open", nil, playwright.Nav, "new window"},
		{"click", "#file2", nil, playwright.Nav, "download"},
		{"type", "#colour", args{"text": "green"}, playwright.InvalidSelector, "select_option"},
		{"type", "#agree", args{"text": "on"}, playwright.InvalidSelector, "click"},
		{"type", "#file", args{"text": "x"}, playwright.InvalidSelector, "uploaded"},
		{"type", "#plain", args{"text": "x"}, playwright.InvalidSelector, "takes no text"},
		{"type", "#day", args{"text": "tomorrow"}, playwright.InvalidSelector, "date"},
		{"type", "#fixed", args{"text": "2"}, playwright.Timeout, "read-only"},
		{"type", "#number", args{"text": "abc"}, common.InvalidParams, "unchanged"},
		{"select_option", "#colour", args{"options": []string{"pink"}}, playwright.Timeout, "green"},
		{"select_option", "#colour", args{"options": []string{"blue"}}, playwright.Timeout, "disabled"},
		{"select_option", "#off", args{"options": []string{"x"}}, playwright.Timeout, "disabled"},
		{"select_option", "#name", args{"options": []string{"x"}}, playwright.InvalidSelector, "click"},
		{"wait_for", "", args{"text": "never"}, playwright.Timeout, "not there"},
		{"wait_for", "#plain", args{"gone": true}, playwright.Timeout, "still there"},
	} {
		a := args{"session": session, "selector": c.selector}
		for name, value := range c.more {
			a[name] = value
		}
		e, details := k.fails(t, c.want, "pw/"+c.method, limited(a, c.want, 500))
		for limit := 2000; c.want == playwright.Timeout && !strings.Contains(details, c.why) && limit < 60_000; limit *= 4 { // a busy machine
			e, details = k.fails(t, c.want, "pw/"+c.method, limited(a, c.want, limit))
		}
		if !strings.Contains(details, c.why) || e.Retry().Retryable() {
			t.Errorf("%s %s: %s, %v", c.method, c.selector, details, e.Retry())
		}
	}
	if p := pageOf(t, k.call(t, "pw/content", args{"session": session})); p["title"] != "form" {
		t.Errorf("an element that must not be used was used: %v", p["title"])
	}
}

// limited adds a time limit to a call that must run out of time.
func limited(a args, want candor.Code, limit int) args {
	a = maps.Clone(a)
	if want == playwright.Timeout {
		a["timeoutMs"] = limit
	}
	return a
}

// TestSnapshotLeadsToEveryElement chooses each step from the text of a snapshot.
func TestSnapshotLeadsToEveryElement(t *testing.T) {
	k, session := sharedKit(t)
	k.site.page("/next", "<title>next</title>")
	k.call(t, "pw/navigate", args{"session": session, "url": k.site.page("/form", form)})
	snapshot := func() string {
		text, _ := pageOf(t, k.call(t, "pw/snapshot", args{"session": session}))["text"].(string)
		return text
	}
	text := snapshot()
	ref := func(line string) string {
		_, rest, found := strings.Cut(text, line+" [")
		name, _, _ := strings.Cut(rest, "]")
		if !found {
			t.Fatalf("no line %q in\n%s", line, text)
		}
		return name
	}
	for _, line := range []string{`- heading "Order"`, "Some text.", `- button "Gone" [ref=`, `"red" of "red, green, blue"`} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	k.call(t, "pw/type", args{"session": session, "selector": ref(`- textbox "Name"`), "text": "Ada", "replace": true})
	k.call(t, "pw/type", args{"session": session, "selector": "#day", "text": "2026-01-31"})
	k.call(t, "pw/type", args{"session": session, "selector": "#number", "text": "7"})
	k.call(t, "pw/press", args{"session": session, "key": "Backspace"})
	k.call(t, "pw/click", args{"session": session, "selector": "#agree"})
	k.call(t, "pw/select_option", args{"session": session, "selector": "#colour", "options": []string{"green"}})
	var state []string
	elements, _ := pageOf(t, k.call(t, "pw/select", args{"session": session, "selector": "#name, #colour, #agree, #number, #day"}))["elements"].([]any)
	for _, e := range elements {
		e, _ := e.(map[string]any)
		value, _ := e["value"].(string)
		state = append(state, value)
		if e["checked"] == true {
			state = append(state, "checked")
		}
	}
	if !slices.Equal(state, []string{"Ada", "g", "on", "checked", "", "2026-01-31"}) {
		t.Errorf("the fields have %q", state)
	}
	if p := pageOf(t, k.call(t, "pw/click", args{"session": session, "selector": ref(`- button "Inner"`)})); p["title"] != "shadow" {
		t.Errorf("the button of a shadow tree: %v", p)
	}
	if p := pageOf(t, k.call(t, "pw/click", args{"session": session, "selector": ref(`- link "Next"`)})); p["title"] != "next" {
		t.Errorf("a link to a new window: %v", p)
	}
	k.call(t, "pw/wait_for", args{"session": session, "text": "Order", "gone": true})
	shot := k.call(t, "pw/screenshot", args{"session": session})
	if data, _ := shot["data"].(string); shot["mediaType"] != "image/png" || !strings.HasPrefix(data, "iVBOR") {
		t.Errorf("screenshot: %v", shot["mediaType"])
	}
}
