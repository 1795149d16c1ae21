package browser

import (
	"context"

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

// contentScript returns the visible text of the document, the status of its response, and whether it is loading.
const contentScript = `function(maxText) {` + scriptHelpers + `
const body = getter(Document, "body").call(document) || getter(Document, "documentElement").call(document);
const text = body ? textOf(body) || "" : "";
return {title: getter(Document, "title").call(document).slice(0, 1000), text: text.slice(0, maxText), cut: text.length > maxText,
	loading: getter(Document, "readyState").call(document) !== "complete",
	status: (performance.getEntriesByType("navigation")[0] || {}).responseStatus || 0};
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
func evaluate[R any](ctx context.Context, function string, args ...any) (R, error) {
	world, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: mainFrame(ctx), WorldName: "candor"})
	if err != nil {
		var none R
		return none, err
	}
	return chromedp.Run(ctx, chromedp.CallFunctionOn[R](function, func(p *runtime.CallFunctionOnParams) {
		p.ExecutionContextID = world.ExecutionContextID
	}, args...))
}
