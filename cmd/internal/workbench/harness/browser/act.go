package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// pointed is the result of the scripts that use an element.
type pointed struct {
	Invalid bool     `json:"invalid"`
	Found   bool     `json:"found"`
	Why     string   `json:"why"`   // why it cannot be used yet
	Wrong   string   `json:"wrong"` // why it can never be used like this
	X       float64  `json:"x"`
	Y       float64  `json:"y"`
	Set     bool     `json:"set"` // the script has changed the field
	Value   string   `json:"value"`
	Options []string `json:"options"`
}

// wrongError is the error for an element that a step can never use.
type wrongError struct{ why string }

func (e *wrongError) Error() string { return e.why }

// waitFor calls a script until its element can be used, as Playwright does: until it is there, visible, enabled, and not covered. The reason
// why it cannot is kept for the error of a step that runs out of time.
func waitFor(ctx context.Context, s *session, script string, args ...any) (pointed, error) {
	for {
		p, err := evaluate[pointed](ctx, script, args...)
		switch {
		case err != nil:
			return p, err
		case p.Invalid:
			return p, errInvalidSelector
		}
		if _, err := s.shown(ctx); err != nil || p.Found {
			return p, err
		}
		if p.Wrong != "" {
			return p, &wrongError{p.Wrong}
		}
		s.why, s.options = p.Why, p.Options
		if !pause(ctx) {
			return p, ctx.Err()
		}
	}
}

// targetInput holds the parameters of the steps that use an element.
type targetInput struct {
	stepInput
	Selector string `json:"selector"`
}

func (d *driver) click(ctx context.Context, in targetInput) (pageResult, error) {
	if err := d.checkSelector(in.Selector); err != nil {
		return pageResult{}, err
	}
	return use(ctx, d, in.stepInput, "click", func(ctx context.Context, s *session) (pageResult, error) {
		p, err := steady(ctx, s, in.Selector)
		if err != nil {
			return pageResult{}, err
		}
		return d.act(ctx, s, func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.MouseClickXY(p.X, p.Y)) })
	})
}

// steady waits for an element that can be clicked and does not move.
func steady(ctx context.Context, s *session, selector string) (pointed, error) {
	before, err := waitFor(ctx, s, pointScript, selector)
	for err == nil {
		var now pointed
		if now, err = waitFor(ctx, s, pointScript, selector); err == nil && now.X == before.X && now.Y == before.Y {
			return now, nil
		}
		before = now
	}
	return before, err
}

// act runs an action and waits for the navigation that it may start. An action whose only effect is refused fails.
func (d *driver) act(ctx context.Context, s *session, action func(context.Context) error) (pageResult, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the subscription
	defer cancel()
	main := mainFrame(ctx)
	started := until(chromedp.Events(ctx, page.FrameStartedLoading), func(e page.EventFrameStartedLoading) bool { return e.FrameID == main })
	s.refused.Store(nil)
	if err := action(ctx); err != nil {
		return pageResult{}, err
	}
	result, err := afterAction(ctx, s, started)
	if refused := s.refused.Load(); err == nil && refused != nil {
		return pageResult{}, d.kind.failPage(*refused, nil, "Take a snapshot and choose another step, or navigate to an address.")
	}
	return result, err
}

// afterAction waits for the navigation that an action may have started.
func afterAction(ctx context.Context, s *session, started <-chan struct{}) (pageResult, error) {
	select {
	case <-time.After(clickSettle):
		return describe(ctx, s, 0)
	case <-started:
	}
	for {
		result, err := describe(ctx, s, 0)
		var nav *navError
		if err == nil && !result.Loading || errors.As(err, &nav) || !pause(ctx) { // other errors come from the page that is left
			return result, err
		}
	}
}

// pause waits until the page is looked at again, and reports whether ctx has not ended.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(pollInterval):
		return true
	case <-ctx.Done():
		return false
	}
}

// typeInput holds the parameters of type.
type typeInput struct {
	targetInput
	Text    string `json:"text"`
	Replace bool   `json:"replace"`
}

func (d *driver) typeText(ctx context.Context, in typeInput) (pageResult, error) {
	if err := d.checkSelector(in.Selector); err != nil {
		return pageResult{}, err
	}
	if len(in.Text) > maxTyped {
		return pageResult{}, domain.Fail(common.InputTooLarge, fmt.Sprintf("text: %d characters, more than %d", len(in.Text), maxTyped), nil)
	}
	return use(ctx, d, in.stepInput, "type", func(ctx context.Context, s *session) (pageResult, error) {
		before, err := waitFor(ctx, s, typeScript, in.Selector, in.Replace, in.Text)
		if err != nil {
			return pageResult{}, err
		}
		if !before.Set {
			if _, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: in.Text}); err != nil {
				return pageResult{}, err
			}
		}
		after, err := evaluate[pointed](ctx, valueScript, in.Selector)
		if err != nil {
			return pageResult{}, err
		}
		if after.Found && after.Value == before.Value && !before.Set && in.Text != "" && !(in.Replace && before.Value == in.Text) {
			return pageResult{}, domain.Fail(common.InvalidParams, "text: the field did not take it and is unchanged", nil)
		}
		result, err := describe(ctx, s, 0)
		result.Page.Value = clean(after.Value, maxAttribute)
		return result, err
	})
}

// optionInput holds the parameters of select_option.
type optionInput struct {
	targetInput
	Options []string `json:"options"`
}

func (d *driver) selectOption(ctx context.Context, in optionInput) (pageResult, error) {
	if err := d.checkSelector(in.Selector); err != nil {
		return pageResult{}, err
	}
	return use(ctx, d, in.stepInput, "select_option", func(ctx context.Context, s *session) (pageResult, error) {
		p, err := waitFor(ctx, s, optionScript, in.Selector, in.Options)
		if err != nil {
			return pageResult{}, err
		}
		result, err := describe(ctx, s, 0)
		result.Page.Value = clean(p.Value, maxAttribute)
		return result, err
	})
}

// keys are the keys that press knows, with their codes in Windows, by which Chromium finds their effect.
var keys = []struct {
	name string
	code int64
	text string
}{
	{"Enter", 13, "\r"}, {"Tab", 9, ""}, {"Escape", 27, ""}, {"Backspace", 8, ""}, {"Delete", 46, ""}, {"ArrowUp", 38, ""}, {"ArrowDown", 40, ""},
	{"ArrowLeft", 37, ""}, {"ArrowRight", 39, ""}, {"PageUp", 33, ""}, {"PageDown", 34, ""},
}

// keyNames returns the names of the keys, quoted for JSON.
func keyNames() string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = `"` + k.name + `"`
	}
	return strings.Join(names, ", ")
}

// pressInput holds the parameters of press.
type pressInput struct {
	stepInput
	Key string `json:"key"`
}

func (d *driver) press(ctx context.Context, in pressInput) (pageResult, error) {
	return use(ctx, d, in.stepInput, "press", func(ctx context.Context, s *session) (pageResult, error) {
		if _, err := s.shown(ctx); err != nil {
			return pageResult{}, err
		}
		return d.act(ctx, s, func(ctx context.Context) error { return press(ctx, in.Key) })
	})
}

// press sends the events of a key going down and up.
func press(ctx context.Context, name string) error {
	for _, k := range keys {
		if k.name != name {
			continue
		}
		event := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: name, Code: name, WindowsVirtualKeyCode: k.code, Text: k.text}
		if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, event); err != nil {
			return err
		}
		event.Type, event.Text = input.DispatchKeyEventTypeKeyUp, ""
		_, err := chromedp.Call(ctx, input.DispatchKeyEvent, event)
		return err
	}
	return nil
}

// waitInput holds the parameters of wait_for.
type waitInput struct {
	targetInput
	Text string `json:"text"`
	Gone bool   `json:"gone"`
}

func (d *driver) waitFor(ctx context.Context, in waitInput) (pageResult, error) {
	switch {
	case (in.Text == "") == (strings.TrimSpace(in.Selector) == ""):
		return pageResult{}, domain.Fail(common.InvalidParams, "give either text or selector", nil)
	case in.Selector != "":
		if err := d.checkSelector(in.Selector); err != nil {
			return pageResult{}, err
		}
	}
	return use(ctx, d, in.stepInput, "wait_for", func(ctx context.Context, s *session) (pageResult, error) {
		if _, err := waitFor(ctx, s, waitScript, in.Text, in.Selector, in.Gone); err != nil {
			return pageResult{}, err
		}
		return describe(ctx, s, 0)
	})
}
