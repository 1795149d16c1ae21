package browser

import (
	"strings"
	"testing"
)

func TestPageIsReadByItsMethods(t *testing.T) {
	k, session := sharedKit(t)
	address := k.site.page("/plain", `<title>A title</title><h1 id=top class="a b">Hello <b>there</b></h1><p hidden>not shown</p>
		<a href="/next">next</a><form name=querySelectorAll><input name=innerText value=x></form><input id=field value=old>
		<button id=go onclick="document.title='clicked '+document.getElementById('field').value">Go</button>`)
	result := k.call(t, "pw/navigate", args{"session": session, "url": address})
	if p := pageOf(t, result); result["status"] != 200.0 || p["title"] != "A title" || p["url"] != address {
		t.Errorf("navigate: %v", result)
	}
	result = k.call(t, "pw/content", args{"session": session})
	if text, _ := pageOf(t, result)["text"].(string); !strings.Contains(text, "Hello there") || strings.Contains(text, "not shown") {
		t.Errorf("content: %v", result)
	}
	result = k.call(t, "pw/select", args{"session": session, "selector": "h1, a, form"})
	elements, _ := pageOf(t, result)["elements"].([]any)
	if result["count"] != 3.0 || len(elements) != 3 {
		t.Fatalf("select: %v", result)
	}
	first, _ := elements[0].(map[string]any)
	if first["tag"] != "h1" || first["text"] != "Hello there" {
		t.Errorf("select: %v", first)
	}
	k.call(t, "pw/type", args{"session": session, "selector": "#field", "text": "new", "replace": true})
	result = k.call(t, "pw/click", args{"session": session, "selector": "#go"})
	if p := pageOf(t, result); p["title"] != "clicked new" {
		t.Errorf("click: %v", result)
	}
	next := k.site.page("/next", "<title>Next</title>")
	if p := pageOf(t, k.call(t, "pw/click", args{"session": session, "selector": "a"})); p["url"] != next || p["title"] != "Next" {
		t.Errorf("after a click on a link: %v", p)
	}
}
