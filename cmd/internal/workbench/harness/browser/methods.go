package browser

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// The parameters that several methods have.
const (
	sessionSchema  = `"session": {"type": "string", "description": "The id that launch has returned"}`
	timeoutSchema  = `"timeoutMs": {"type": "integer", "minimum": 1, "description": "How long the step may take, up to the limit of the server"}`
	maxCharsSchema = `"maxChars": {"type": "integer", "minimum": 1, "maximum": 200000, "description": "The most characters of text, 20000 by default"}`
	selectorSchema = `"selector": {"type": "string", "description": "A CSS selector, at most 1000 characters, or ref=e7 with a reference of snapshot"}`
)

// methods is the method table of the domain.
func (d *driver) methods() []domain.Method {
	k := d.kind
	withSession := []candor.Code{k.nav, k.launch, k.timeout, common.Timeout, common.LimitExceeded, common.SessionNotFound, common.InvalidParams, common.InputTooLarge}
	withSelector := append([]candor.Code{k.selection}, withSession...)
	return []domain.Method{
		{
			Name: k.prefix + "/launch", About: "Open a browser session. Its id is needed by all other methods; close it when done.",
			Input: `{}`, OpenWorld: true, Run: domain.Bind(d.launch),
			Codes: []candor.Code{k.launch, common.LimitExceeded, common.NotInstalled},
		}, {
			Name: k.prefix + "/navigate", About: "Open an http or https address and wait until the page has loaded. Returns its address, title and HTTP status.",
			Input:    `{` + sessionSchema + `, "url": {"type": "string", "description": "An http or https address, at most 2048 characters"}, ` + timeoutSchema + `}`,
			Required: []string{"session", "url"}, OpenWorld: true, Codes: withSession, Run: domain.Bind(d.navigate),
		}, {
			Name: k.prefix + "/select", About: "Return the text and attributes of the elements that match a CSS selector.",
			Input: `{` + sessionSchema + `, ` + selectorSchema + `,
				"attributes": {"type": "array", "items": {"type": "string"}, "maxItems": 16, "description": "Names of the attributes to return"},
				"limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "The most elements to return, 20 by default"}, ` + timeoutSchema + `}`,
			Required: []string{"session", "selector"}, ReadOnly: true, Idempotent: true, Codes: withSelector, Run: domain.Bind(d.selectElements),
		}, {
			Name: k.prefix + "/click", About: "Wait for the first element that matches a CSS selector, click it, and wait for the page that it may open. New windows are not opened.",
			Input:    `{` + sessionSchema + `, ` + selectorSchema + `, ` + timeoutSchema + `}`,
			Required: []string{"session", "selector"}, OpenWorld: true, Destructive: true, Codes: withSelector, Run: domain.Bind(d.click),
		}, {
			Name: k.prefix + "/type", About: "Wait for the first element that matches a CSS selector and type text into it.",
			Input: `{` + sessionSchema + `, ` + selectorSchema + `, "text": {"type": "string", "description": "At most 10000 characters"},
				"replace": {"type": "boolean", "description": "Whether to replace the text that is there"}, ` + timeoutSchema + `}`,
			Required: []string{"session", "selector", "text"}, OpenWorld: true, Codes: withSelector, Run: domain.Bind(d.typeText),
		}, {
			Name: k.prefix + "/content", About: "Return the address, the title and the visible text of the page.",
			Input:    `{` + sessionSchema + `, ` + maxCharsSchema + `, ` + timeoutSchema + `}`,
			Required: []string{"session"}, ReadOnly: true, Idempotent: true, Codes: withSession, Run: domain.Bind(d.content),
		}, {
			Name: k.prefix + "/snapshot", About: "Return the visible text of the page in lines, with a reference such as [ref=e7] for each element that can be used. Use ref=e7 as a selector.",
			Input:    `{` + sessionSchema + `, ` + maxCharsSchema + `, ` + timeoutSchema + `}`,
			Required: []string{"session"}, ReadOnly: true, Idempotent: true, Codes: withSession, Run: domain.Bind(d.snapshot),
		}, {
			Name: k.prefix + "/screenshot", About: "Return a picture of the part of the page that a window shows.",
			Input: `{` + sessionSchema + `, ` + timeoutSchema + `}`, Image: true,
			Required: []string{"session"}, ReadOnly: true, Idempotent: true, Codes: withSession, Run: domain.Bind(d.screenshot),
		}, {
			Name: k.prefix + "/select_option", About: "Wait for a select field and choose its options by their values or texts.",
			Input: `{` + sessionSchema + `, ` + selectorSchema + `, "options": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 100,
				"description": "One option, or several where the field takes them"}, ` + timeoutSchema + `}`,
			Required: []string{"session", "selector", "options"}, OpenWorld: true, Idempotent: true, Codes: withSelector, Run: domain.Bind(d.selectOption),
		}, {
			Name: k.prefix + "/press", About: "Press a key, for the element that has the focus, and wait for the page that it may open.",
			Input:    `{` + sessionSchema + `, "key": {"enum": [` + keyNames() + `]}, ` + timeoutSchema + `}`,
			Required: []string{"session", "key"}, OpenWorld: true, Destructive: true, Codes: withSession, Run: domain.Bind(d.press),
		}, {
			Name: k.prefix + "/wait_for", About: "Wait until the page shows a text or an element, or until it is gone.",
			Input: `{` + sessionSchema + `, ` + selectorSchema + `, "text": {"type": "string", "maxLength": 1000, "description": "A text to wait for, instead of a selector"},
				"gone": {"type": "boolean", "description": "Whether to wait until it is gone"}, ` + timeoutSchema + `}`,
			Required: []string{"session"}, ReadOnly: true, Idempotent: true, Codes: withSelector, Run: domain.Bind(d.waitFor),
		}, {
			Name: k.prefix + "/close", About: "Close a session and its browser.",
			Input: `{` + sessionSchema + `}`, Required: []string{"session"}, Run: domain.Bind(d.close),
			Codes: []candor.Code{common.SessionNotFound, common.InputTooLarge},
		},
	}
}
