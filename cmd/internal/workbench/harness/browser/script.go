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
const own = (e, type, name) => getter(type, name).call(e);
const refs = globalThis.candorRefs ||= {elements: new Map(), names: new WeakMap(), next: 1};
const find = (selector) => {
	const ref = /^\[?ref=(e\d+)\]?$/.exec(selector.trim());
	if (!ref) return Document.prototype.querySelectorAll.call(document, selector);
	const e = refs.elements.get(ref[1]);
	return e && own(e, Node, "isConnected") ? [e] : null;
};
const textOf = (e) => e instanceof HTMLElement ? own(e, HTMLElement, "innerText") : own(e, Node, "textContent");
const closest = (e, selector) => Element.prototype.closest.call(e, selector);
const attribute = (e, name) => Element.prototype.getAttribute.call(e, name);
const visible = (e) => Element.prototype.checkVisibility.call(e, {visibilityProperty: true});
const field = (e) => [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement].find((type) => e instanceof type);
const kind = (e) => e instanceof HTMLInputElement ? own(e, HTMLInputElement, "type") : "";
const disabled = (e) => !!closest(e, ":is(button, input, select, textarea, option):disabled, [aria-disabled=true]");
// first returns the first element for a selector, or the answer to return instead.
const first = (selector) => {
	let found;
	try { found = find(selector); } catch { return [null, {invalid: true}]; }
	if (!found) return [null, {wrong: "no element has this reference now: take a new snapshot"}];
	if (!found.length) return [null, {why: "no element matches the selector"}];
	return [found[0], !visible(found[0]) ? {why: "the element is not visible"} : disabled(found[0]) ? {why: "the element is disabled"} : null];
};
const changed = (e) => {
	for (const name of ["input", "change"]) EventTarget.prototype.dispatchEvent.call(e, new Event(name, {bubbles: true}));
};
`

// selectScript returns the elements that match a selector.
const selectScript = `function(selector, names, limit, maxText, maxAttribute) {` + scriptHelpers + `
let found;
try { found = find(selector) || []; } catch { return {invalid: true}; }
const elements = [];
for (let i = 0; i < found.length && i < limit; i++) {
	const e = found[i], attributes = {};
	for (const name of names) {
		const value = Element.prototype.getAttribute.call(e, name);
		if (value !== null) attributes[name] = value.slice(0, maxAttribute);
	}
	const type = field(e), toggle = ["checkbox", "radio"].includes(kind(e));
	elements.push({tag: own(e, Element, "localName").slice(0, 64), text: (textOf(e) || "").slice(0, maxText), attributes,
		value: type && kind(e) !== "password" ? own(e, type, "value").slice(0, maxAttribute) : null,
		checked: toggle ? own(e, HTMLInputElement, "checked") : null, disabled: disabled(e), visible: visible(e)});
}
return {count: found.length, elements};
}`

// contentScript returns the visible text of the document, the status of its response, and whether it is loading.
const contentScript = `function(maxText) {` + scriptHelpers + `
const body = own(document, Document, "body") || own(document, Document, "documentElement");
const text = body ? textOf(body) || "" : "";
return {title: getter(Document, "title").call(document).slice(0, 1000), text: text.slice(0, maxText), cut: text.length > maxText,
	loading: getter(Document, "readyState").call(document) !== "complete",
	status: (performance.getEntriesByType("navigation")[0] || {}).responseStatus || 0};
}`

// pointScript scrolls to the first element that matches a selector and returns its centre once a click there would reach it. A link or a
// form that opens a new window opens its page in this one.
const pointScript = `function(selector) {` + scriptHelpers + `
const [e, other] = first(selector);
if (e instanceof HTMLOptionElement) return {wrong: "an option is chosen with select_option"};
if (other) return other;
Element.prototype.scrollIntoView.call(e, {block: "center", inline: "center", behavior: "instant"});
const box = [...Element.prototype.getClientRects.call(e)].find((r) => r.width > 0 && r.height > 0);
if (!box) return {why: "the element has no size"};
const x = box.x + box.width / 2, y = box.y + box.height / 2, root = Node.prototype.getRootNode.call(e);
const hit = (root instanceof ShadowRoot ? ShadowRoot : Document).prototype.elementFromPoint.call(root, x, y);
const label = hit && closest(hit, "label");
if (!hit) return {why: "the element is outside of the window"};
if (!Node.prototype.contains.call(e, hit) && !(label && own(label, HTMLLabelElement, "control") === e)) return {why: "another element covers it"};
const opener = closest(e, "a[target], area[target], form[target]") || (closest(e, "a[href]") && Document.prototype.querySelector.call(document, "base[target]") ? closest(e, "a[href]") : null);
if (opener) Element.prototype.setAttribute.call(opener, "target", "_self");
return {found: true, x, y};
}`

// typeScript prepares the first element that matches a selector for text: it gives it the focus and selects its text, or puts the cursor
// after it. Fields whose text a browser does not let people write, such as dates, it sets itself.
const typeScript = `function(selector, all, text) {` + scriptHelpers + `
const [e, other] = first(selector);
if (other) return other;
const type = field(e), form = kind(e), editable = e instanceof HTMLElement && own(e, HTMLElement, "isContentEditable");
if (type === HTMLSelectElement) return {wrong: "a select field takes one of its options: use select_option"};
if (["checkbox", "radio", "button", "submit", "reset", "image"].includes(form)) return {wrong: "a field of type " + form + " takes no text: click it"};
if (form === "file") return {wrong: "files cannot be uploaded"};
if (!type && !editable) return {wrong: "the element takes no text"};
if (type && own(e, type, "readOnly")) return {why: "the element is read-only"};
HTMLElement.prototype.focus.call(e);
const before = type ? own(e, type, "value") : textOf(e);
if (["color", "date", "datetime-local", "month", "range", "time", "week"].includes(form)) {
	Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(e, text);
	if (own(e, HTMLInputElement, "value") !== text) return {wrong: "the text is not the value of a field of type " + form};
	changed(e);
	return {found: true, set: true, value: text};
}
if (!type) {
	getSelection().selectAllChildren(e);
	if (!all) getSelection().collapseToEnd();
} else if (all) {
	type.prototype.select.call(e);
} else {
	try { type.prototype.setSelectionRange.call(e, before.length, before.length); } catch {} // some types have no cursor
}
if (all && !text) Document.prototype.execCommand.call(document, "delete");
return {found: true, value: before};
}`

// valueScript returns the text of the first element that matches a selector.
const valueScript = `function(selector) {` + scriptHelpers + `
const [e, other] = first(selector);
return e ? {found: true, value: field(e) ? own(e, field(e), "value") : textOf(e)} : other;
}`

// optionScript chooses options of a select field by their values or labels.
const optionScript = `function(selector, wanted) {` + scriptHelpers + `
const [e, other] = first(selector);
if (other) return other;
if (!(e instanceof HTMLSelectElement)) return {wrong: "only a select field has options: click other elements"};
if (wanted.length !== 1 && !own(e, HTMLSelectElement, "multiple")) return {wrong: "the field takes one option"};
const options = [...own(e, HTMLSelectElement, "options")], label = (o) => own(o, HTMLOptionElement, "label").trim();
const chosen = wanted.map((w) => options.find((o) => own(o, HTMLOptionElement, "value") === w || label(o) === w.trim()));
if (chosen.includes(undefined)) return {why: "it has no such option", options: options.slice(0, 50).map((o) => label(o).slice(0, 100))};
if (chosen.some(disabled)) return {why: "the option is disabled"};
for (const o of options) Object.getOwnPropertyDescriptor(HTMLOptionElement.prototype, "selected").set.call(o, chosen.includes(o));
changed(e);
return {found: true, value: own(e, HTMLSelectElement, "value")};
}`

// waitScript looks for a text, or a visible element that matches a selector.
const waitScript = `function(text, selector, gone) {` + scriptHelpers + `
let there;
try {
	there = selector ? [...find(selector) || []].some(visible) : (textOf(own(document, Document, "documentElement")) || "").includes(text);
} catch { return {invalid: true}; }
return {found: there !== gone, why: there ? "it is still there" : "it is not there"};
}`

// snapshotScript writes the visible text of the document in lines, with a reference for each element that can be used.
const snapshotScript = `function(maxText) {` + scriptHelpers + `
const roles = ["link", "button", "checkbox", "radio", "switch", "tab", "menuitem", "option", "combobox", "textbox", "slider"], skipped = ["script", "style", "template", "noscript"];
const usable = "a[href], button, input, select, textarea, summary, [onclick], [contenteditable], [tabindex], [role]";
const lines = [];
let size = 0, left = 20000, cut = false, text = "";
const push = (line) => {
	size += line.length + 1;
	if (size > maxText) cut = true; else lines.push(line);
};
const flush = () => {
	const line = text.replace(/\s+/g, " ").trim();
	text = "";
	if (line) push(line);
};
const words = (s) => JSON.stringify((s || "").replace(/\s+/g, " ").trim().slice(0, 200));
const role = (e, tag) => {
	const said = attribute(e, "role"), form = kind(e);
	if (roles.includes(said)) return said;
	if (tag === "a" && attribute(e, "href") !== null) return "link";
	if (tag === "button" || tag === "summary" || ["button", "submit", "reset", "image"].includes(form)) return "button";
	if (form === "checkbox" || form === "radio" || form === "file") return form;
	if (tag === "select") return "combobox";
	if (field(e) || attribute(e, "contenteditable") !== null) return "textbox";
	return attribute(e, "onclick") !== null || attribute(e, "tabindex") !== null ? "clickable" : "";
};
const name = (e) => {
	const type = field(e), labels = type ? own(e, type, "labels") : null, button = kind(e) && role(e, "") === "button";
	const picture = Element.prototype.querySelector.call(e, "img[alt]");
	return attribute(e, "aria-label") || (labels && labels.length ? textOf(labels[0]) : "") || attribute(e, "placeholder") ||
		(button ? own(e, type, "value") : type ? "" : textOf(e)) || attribute(e, "title") || (picture ? attribute(picture, "alt") : "") || attribute(e, "name") || attribute(e, "id");
};
const refOf = (e) => {
	if (!refs.names.has(e)) refs.names.set(e, "e" + refs.next++);
	refs.elements.set(refs.names.get(e), e);
	return refs.names.get(e);
};
const describe = (e, what) => {
	let line = "- " + what + " " + words(name(e)) + " [ref=" + refOf(e) + "]";
	if (what === "textbox" && field(e) && kind(e) !== "password" && own(e, field(e), "value")) line += ": " + words(own(e, field(e), "value"));
	if (e instanceof HTMLSelectElement) {
		const label = (o) => own(o, HTMLOptionElement, "label").trim();
		line += ": " + words([...own(e, HTMLSelectElement, "selectedOptions")].map(label).join(", ")) +
			" of " + words([...own(e, HTMLSelectElement, "options")].slice(0, 20).map(label).join(", "));
	}
	if (["checkbox", "radio"].includes(kind(e)) && own(e, HTMLInputElement, "checked")) line += " checked";
	return line + (disabled(e) ? " disabled" : "");
};
const walk = (node, depth) => {
	if (left-- <= 0 || depth > 200 || size > maxText) { cut = true; return; }
	if (node instanceof Text) { text += own(node, CharacterData, "data").slice(0, maxText); return; }
	if (!(node instanceof Element || node instanceof ShadowRoot)) return;
	if (node instanceof Element) {
		const tag = own(node, Element, "localName");
		if (skipped.includes(tag) || !visible(node) && getComputedStyle(node).display !== "contents") return;
		if (tag === "iframe" || tag === "frame") { flush(); push("- frame: its content is not shown"); return; }
		if (tag === "img" && attribute(node, "alt")) { flush(); push("- image " + words(attribute(node, "alt"))); return; }
		if (tag === "label" && own(node, HTMLLabelElement, "control") && !Node.prototype.contains.call(node, own(node, HTMLLabelElement, "control"))) return;
		const what = role(node, tag), inner = Element.prototype.querySelector.call(node, usable);
		if (what) { flush(); push(describe(node, what)); }
		if (what && (what !== "clickable" || !inner) || field(node)) return;
		if (/^h[1-6]$/.test(tag) && !inner) { flush(); push("- heading " + words(textOf(node))); return; }
		const shadow = own(node, Element, "shadowRoot"); // the scripts of a page may hide it
		if (shadow) walk(shadow, depth + 1);
		const block = !["inline", "contents"].includes(getComputedStyle(node).display);
		if (block) flush();
		for (const child of own(node, Node, "childNodes")) walk(child, depth + 1);
		if (block) flush();
		return;
	}
	for (const child of own(node, Node, "childNodes")) walk(child, depth + 1);
};
refs.elements.clear();
const body = own(document, Document, "body");
if (body) walk(body, 0);
flush();
return {text: lines.join("\n"), cut};
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
