package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The functions below run in an isolated world: they see the document, but not changes by scripts of the page. They
// call members through their prototypes, because an element with the name of a member hides it in every world.
const scriptHelpers = `
const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
const find = (selector) => Document.prototype.querySelectorAll.call(document, selector);
const textOf = (e) => e instanceof HTMLElement ? getter(HTMLElement, "innerText").call(e) : getter(Node, "textContent").call(e);
`

// selectScript returns the elements that match a selector.
const selectScript = `function(selector, names, limit, maxText, maxAttribute) {` + scriptHelpers + `
let found;
try { found = find(selector); } catch { return {invalid: true}; }
const elements = [];
for (let i = 0; i < found.length && i < limit; i++) {
	const e = found[i], attributes = {};
	for (const name of names) {
		const value = Element.prototype.getAttribute.call(e, name);
		if (value !== null) attributes[name] = value.slice(0, maxAttribute);
	}
	elements.push({tag: getter(Element, "localName").call(e).slice(0, 64), text: (textOf(e) || "").slice(0, maxText), attributes});
}
return {count: found.length, elements};
}`

// contentScript returns the visible text of the document.
const contentScript = `function(maxText) {` + scriptHelpers + `
const body = getter(Document, "body").call(document) || getter(Document, "documentElement").call(document);
const text = body ? textOf(body) || "" : "";
return {title: getter(Document, "title").call(document).slice(0, 1000), text: text.slice(0, maxText), cut: text.length > maxText};
}`

// pointScript scrolls to the first element that matches a selector and returns its centre, if it has one.
const pointScript = `function(selector) {` + scriptHelpers + `
let found;
try { found = find(selector); } catch { return {invalid: true}; }
if (!found.length) return {};
Element.prototype.scrollIntoView.call(found[0], {block: "center", inline: "center", behavior: "instant"});
const box = Element.prototype.getBoundingClientRect.call(found[0]);
return {found: box.width > 0 && box.height > 0, x: box.x + box.width / 2, y: box.y + box.height / 2};
}`

// focusScript gives the focus to the first element that matches a selector, and selects its text if asked.
const focusScript = `function(selector, all) {` + scriptHelpers + `
let found;
try { found = find(selector); } catch { return {invalid: true}; }
if (!found.length) return {};
const e = found[0];
if (!(e instanceof HTMLElement)) return {};
HTMLElement.prototype.focus.call(e);
if (getter(Document, "activeElement").call(document) !== e) return {};
if (all && (e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement)) e.select();
return {found: true};
}`

// evaluate calls a function in the document of a tab.
func evaluate[R any](ctx context.Context, t *tab, function string, args ...any) (R, error) {
	var result R
	world, err := cdp.Call(ctx, t.endpoint, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: t.frame(), WorldName: "candor"})
	if err != nil {
		return result, err
	}
	yes := true
	params := runtime.CallFunctionOnParams{
		FunctionDeclaration: function, ExecutionContextID: world.ExecutionContextID, ReturnByValue: &yes, Silent: &yes,
	}
	for _, a := range args {
		encoded, err := jsonv2.Marshal(a)
		if err != nil {
			return result, fmt.Errorf("encoding an argument: %w", err)
		}
		params.Arguments = append(params.Arguments, &runtime.CallArgument{Value: encoded})
	}
	called, err := cdp.Call(ctx, t.endpoint, runtime.CallFunctionOn, params)
	switch {
	case err != nil:
		return result, err
	case called.ExceptionDetails != nil || called.Result == nil:
		return result, fmt.Errorf("a script failed: %+v", called.ExceptionDetails)
	}
	return result, jsonv2.Unmarshal(called.Result.Value, &result, chromedp.DefaultUnmarshalOptions)
}
