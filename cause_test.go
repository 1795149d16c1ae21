package candor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
)

var past = time.Date(2001, 2, 3, 4, 5, 6, 789_654_321, time.FixedZone("", 3600))

type (
	panicky     struct{ with any }
	unwilling   struct{}
	unwillingly struct{}
	node        struct {
		Name string
		Next *node
		Kids []*node
	}
	loopError struct{}
)

func (p panicky) Error() string                  { panic(p.with) }
func (unwilling) MarshalJSON() ([]byte, error)   { return nil, errors.New("no") }
func (unwillingly) MarshalText() ([]byte, error) { return nil, errors.New("no") }
func (e *loopError) Error() string               { return "round and round" }
func (e *loopError) Unwrap() error               { return e }
func cyclicMap() map[string]any                  { m := map[string]any{"a": 1}; m["self"] = m; return m }
func cyclicSlice() []any                         { s := []any{1, nil}; s[1] = s; return s }
func cyclicNode() *node                          { n := &node{Name: "n"}; n.Next, n.Kids = n, []*node{n}; return n }
func deep(n int) any {
	var v any = "bottom"
	for i := range n {
		if i%2 == 0 {
			v = []any{v}
		} else {
			v = map[string]any{"d": v}
		}
	}
	return v
}

func pointers(n int) any {
	var v any = "bottom"
	for range n {
		inner := v
		v = &inner
	}
	return v
}

// hostile returns new values that break naive encoders.
func hostile() map[string]any {
	type pointer *pointer
	var p pointer
	p = &p
	var iface any
	iface = &iface
	return map[string]any{
		"cyclic map": cyclicMap(), "cyclic slice": cyclicSlice(), "cyclic struct": cyclicNode(), "cyclic pointer": p, "cyclic interface": iface,
		"NaN": math.NaN(), "Inf": math.Inf(1), "-Inf": math.Inf(-1), "NaN in a list": []any{math.NaN(), float32(math.Inf(1))},
		"channel": make(chan int), "function": func() {}, "complex": complex(1, math.NaN()), "uintptr": uintptr(7),
		"huge text": strings.Repeat("é\"", 1<<20), "huge list": make([]int, 1e6), "huge bytes": make([]byte, 1e6), "huge map": hugeMap(20000),
		"huge number": json.Number(strings.Repeat("9", 1e5)), "bad number": json.Number("0x1"), "empty number": json.Number(""),
		"deep": deep(10000), "deep pointers": pointers(200000), "invalid UTF-8": "\xff\xfe\x80", "NUL": "a\x00b",
		"fails": unwilling{}, "fails as text": unwillingly{}, "pointer that fails": &unwilling{}, "bad raw": json.RawMessage(`{"a":`),
		"empty raw": json.RawMessage{}, "raw with a tail": json.RawMessage(`1 2`), "nil pointer": (*node)(nil), "nil map": map[string]any(nil),
		"keys": map[any]any{1: "a", "b": 2, true: 3, 2.5: 4, node{}.Name: 5}, "struct keys": map[struct{ A int }]int{{1}: 1, {2}: 2},
		"error": errors.New("e"), "panicking error": panicky{"boom"}, "nil error": (*fs.PathError)(nil), "errors": []error{nil, panicky{3}, syscall.ENOENT},
		"reflect": reflect.ValueOf(3), "time": past, "unsafe names": map[string]any{"\x00\u202e": "\u202egnp.exe"},
	}
}

func hugeMap(n int) map[string]int {
	m := make(map[string]int, n)
	for i := range n {
		m[fmt.Sprint("key", i)] = i
	}
	return m
}

// TestK7CausesAreNormalisedAndSafe checks that an error becomes message, code and name, and any other value short, valid text.
func TestK7CausesAreNormalisedAndSafe(t *testing.T) {
	t.Run("errors", func(t *testing.T) {
		missing := &fs.PathError{Op: "open", Path: "a.txt", Err: syscall.ENOENT}
		for name, test := range map[string]struct {
			err  error
			want candor.Cause
			json string
		}{
			"plain":   {errors.New("boom"), candor.Cause{Message: "boom", Name: "Error"}, `{"message":"boom","code":null,"name":"Error"}`},
			"errno":   {missing, candor.Cause{Message: missing.Error(), Code: "ENOENT", Name: "PathError"}, `{"message":"` + missing.Error() + `","code":"ENOENT","name":"PathError"}`},
			"wrapped": {fmt.Errorf("a: %w", fmt.Errorf("b: %w", &kaizaError{"E_X", "boom"})), candor.Cause{Message: "a: b: boom", Code: "E_X", Name: "kaizaError"}, ""},
			"joined":  {errors.Join(errors.New("x"), &codeError{"E_Y", "y"}), candor.Cause{Message: "x\ny", Code: "E_Y", Name: "codeError"}, ""},
			"path": {
				fmt.Errorf("opening: %w", &fs.PathError{Op: "sync", Path: "/data/Ann's files (1), old: x/a b.txt", Err: errors.New("broken")}),
				candor.Cause{Message: "opening: sync …/a b.txt: broken", Name: "PathError"}, "",
			},
			"two paths": {
				errors.Join(&os.LinkError{Op: "rename", Old: "/data/my files/a", New: `D:\my files\b`, Err: errors.New("broken")}),
				candor.Cause{Message: "rename …/a …/b: broken", Name: "LinkError"}, "",
			},
			"secret": {errors.New("login failed: password=hunter2hunter2 in /home/ann/.netrc"), candor.Cause{Message: "login failed: password=[redacted:password] in …/.netrc", Name: "Error"}, ""},
		} {
			e := candor.New(candor.CodeTimeout, "", candor.WithCause(test.err))
			if e.Cause() != test.want {
				t.Errorf("%s: %+v, want %+v", name, e.Cause(), test.want)
			}
			if test.json != "" && !strings.Contains(marshal(t, e), `"cause":`+test.json) {
				t.Errorf("%s: %s", name, marshal(t, e))
			}
			if !errors.Is(e, test.err) {
				t.Errorf("%s: the Go error is lost", name)
			}
		}
	})
	t.Run("code and name are cleaned too", func(t *testing.T) {
		c := candor.NewCause("m", "password=hunter2hunter2", "/home/ann/src/app/main.go")
		if strings.Contains(c.Code, "hunter2") || strings.Contains(c.Name, "ann") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("texts stay texts", func(t *testing.T) {
		e := candor.New(candor.CodeTimeout, "", candor.WithCauseText(candor.Cause{Message: "boom"}))
		if !strings.Contains(marshal(t, e), `"cause":"boom"`) {
			t.Error(marshal(t, e))
		}
	})
	t.Run("an invariant keeps its cause", func(t *testing.T) {
		cause := errors.New("row 7 has no parent")
		e := candor.InvariantViolation("TREE_IS_CONNECTED", "", candor.WithCause(cause))
		if e.Cause().Message != cause.Error() || !errors.Is(e, cause) || e.CallInfo().InvariantID != "TREE_IS_CONNECTED" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("hostile values", func(t *testing.T) {
		for name, v := range hostile() {
			e := candor.FromUnknown(v)
			if e == nil {
				t.Errorf("%s: no error", name)
				continue
			}
			checkCause(t, name, e.Cause())
			if e.Code() == candor.CodeUncodedError || len(marshal(t, e)) > 32<<10 {
				t.Errorf("%s: %s", name, marshal(t, e))
			}
		}
	})
	t.Run("an error that unwraps to itself", func(t *testing.T) {
		e := candor.From(fmt.Errorf("x: %w", &loopError{}))
		if e.Code() != candor.CodeInternalError || e.Cause().Message != "x: round and round" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("an error that cannot be printed", func(t *testing.T) {
		e := candor.From(fmt.Errorf("x: %w", panicky{"boom"}))
		checkCause(t, "panicky", e.Cause())
	})
}

func checkCause(t *testing.T, name string, c candor.Cause) {
	t.Helper()
	if len(c.Message) > candor.MaxCause || len(c.Code) > candor.MaxCallInfo || len(c.Name) > candor.MaxCallInfo {
		t.Errorf("%s: out of bounds: %d, %d, %d bytes", name, len(c.Message), len(c.Code), len(c.Name))
	}
	raw := c.AppendJSON(nil)
	if !json.Valid(raw) || !utf8.Valid(raw) {
		t.Errorf("%s: not JSON: %s", name, raw)
	}
}

// TestThrownValuesAreNotChanged checks that the caller's value is only read.
func TestThrownValuesAreNotChanged(t *testing.T) {
	value := func() map[string]any {
		return map[string]any{
			"password": "hunter2hunter2", "list": []string{"token=abcdefgh12345678", "\x00"}, "deep": deep(40), "self": cyclicMap(),
			"raw": json.RawMessage(`{"api_key":"abc", "n":1.0}`), "node": &node{Name: "/home/ann/x.txt", Kids: []*node{{Name: "k"}}},
		}
	}
	v, want := value(), value()
	_ = candor.FromUnknown(v)
	candor.DetailsOf(v)
	_ = candor.New(candor.CodeTimeout, "", candor.WithDetails(v))
	if !reflect.DeepEqual(v, want) {
		t.Errorf("the value was changed:\n%v\n%v", v, want)
	}
}

// TestACauseThatIsTheMessageIsCleanedAlike checks that a cause may share the message's redaction if both are the same text.
func TestACauseThatIsTheMessageIsCleanedAlike(t *testing.T) {
	texts := []string{
		"disk on fire", "", "password=hunter2hunter2", "see /home/mira/notes.md", "Bearer abcdefghijklmnopqrstuvwxyz0123456789", "a\x1b[31mb", "[redacted]",
		strings.Repeat("a long story. ", 100), strings.Repeat("x", candor.MaxMessage-3) + " token=abcdefghijklmnop", "not\xffutf8",
	}
	for c := range candor.Codes() {
		texts = append(texts, c.Sentence())
	}
	for _, text := range texts {
		want := candor.NewCause(text, "", "Error")
		for _, message := range []string{text, "Something else."} {
			if got := candor.New(candor.CodeConflict, message, candor.WithCause(errors.New(text))).Cause(); got != want {
				t.Errorf("%.80q beside %.80q: %q, want %q", text, message, got, want)
			}
		}
	}
}
