package candor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/limits"
)

// Error types as other systems define them.
type (
	kaizaError struct{ code, text string }
	codeError  struct{ code, text string }
	wrapError  struct {
		code  string
		inner error
	}
	forest []error
)

func (e *kaizaError) Error() string     { return e.text }
func (e *kaizaError) ErrorCode() string { return e.code }
func (e *codeError) Error() string      { return e.text }
func (e *codeError) Code() string       { return e.code }
func (e *wrapError) Error() string      { return "wrapped: " + e.inner.Error() }
func (e *wrapError) Unwrap() error      { return e.inner }
func (e *wrapError) ErrorCode() string  { return e.code }
func (f forest) Error() string          { return fmt.Sprintf("%d errors", len(f)) }
func (f forest) Unwrap() []error        { return f }

// said is an error with the text of another system.
func said(text string) error { return errors.New(text) }

// TestK8CarriedCodesSurvive checks that a registered code is kept, however the error was wrapped.
func TestK8CarriedCodesSurvive(t *testing.T) {
	const symbol = "PLAN_NOT_FOUND"
	want := kaiza.PlanNotFound
	type legacy struct {
		ErrorCode    string `json:"error_code"`
		HumanMessage string `json:"human_message"`
	}
	big := map[string]any{"error_code": symbol, "human_message": "No such plan."}
	for i := range 300 {
		big[fmt.Sprintf("a%03d", i)] = strings.Repeat("x", 900)
	}
	for name, thrown := range map[string]any{
		"ErrorCode method":         &kaizaError{symbol, "no plan"},
		"Code method":              &codeError{symbol, "no plan"},
		"bracketed error":          said("[PLAN_NOT_FOUND] No such plan."),
		"bracketed text":           "[PLAN_NOT_FOUND] No such plan.",
		"nested prefixes":          "[INTERNAL_ERROR] [PLAN_NOT_FOUND] No such plan.",
		"three prefixes":           said("[INTERNAL_ERROR][UNKNOWN_TOOL_FAILURE] [PLAN_NOT_FOUND] No such plan."),
		"map":                      map[string]any{"error_code": symbol, "human_message": "No such plan."},
		"map with code":            map[string]string{"code": symbol, "message": "No such plan."},
		"map with a number beside": map[string]any{"error_code": symbol, "code": 500, "message": 7},
		"map with much beside":     big,
		"struct":                   legacy{symbol, "No such plan."},
		"pointer":                  &legacy{symbol, "No such plan."},
		"raw JSON":                 json.RawMessage(`{"error_code":"PLAN_NOT_FOUND","human_message":"No such plan."}`),
		"wrapped method":           fmt.Errorf("a: %w", fmt.Errorf("b: %w", fmt.Errorf("c: %w", &kaizaError{symbol, "no plan"}))),
		"wrapped text":             fmt.Errorf("a: %w", fmt.Errorf("b: %w", said("[PLAN_NOT_FOUND] No such plan."))),
		"nested and wrapped":       fmt.Errorf("[INTERNAL_ERROR] a: %w", fmt.Errorf("b: %w", said("[PLAN_NOT_FOUND] No such plan."))),
		"first of two siblings":    forest{said("[PLAN_NOT_FOUND] No such plan."), said("[INVALID_PATH] No such path.")},
		"joined":                   errors.Join(errors.New("x"), fmt.Errorf("y: %w", &codeError{symbol, "no plan"})),
		"in a forest":              forest{errors.New("x"), forest{&kaizaError{symbol, "no plan"}}},
		"under an unknown code":    &wrapError{"E_NOBODY_KNOWS", &kaizaError{symbol, "no plan"}},
		"under an empty code":      &wrapError{"", &codeError{symbol, "no plan"}},
		"over a known cause":       fmt.Errorf("[PLAN_NOT_FOUND] no plan: %w", fs.ErrNotExist),
		"method over a cause":      &wrapError{symbol, context.Canceled},
	} {
		e := candor.FromUnknown(thrown, candor.Otherwise(kaiza.FileReadFailed))
		if e.Code() != want {
			t.Errorf("%s: %v, want %v", name, e.Code(), want)
		}
	}
	t.Run("the words behind the code are the message", func(t *testing.T) {
		for _, thrown := range []any{
			"[INTERNAL_ERROR] [PLAN_NOT_FOUND] No such plan.", said("[PLAN_NOT_FOUND]  No such plan. "), legacy{symbol, "No such plan."},
			fmt.Errorf("loading: %w", said("[PLAN_NOT_FOUND] No such plan.")), big,
		} {
			if got := candor.FromUnknown(thrown).Message(); got != "No such plan." {
				t.Errorf("message %q", got)
			}
		}
	})
	t.Run("a prefix that is no code stays out of it", func(t *testing.T) {
		for _, text := range []string{"[ERROR] [PLAN_NOT_FOUND] x", "[PLAN_NOT_FOUND", "PLAN_NOT_FOUND] x", "[] x", "[plan_not_found] x", "["} {
			if got := candor.FromUnknown(text); got.Code() != candor.CodeInternalError || got.Message() != candor.CodeInternalError.Info().Sentence {
				t.Errorf("%q became %v", text, got)
			}
		}
	})
}

func TestNilIsNoError(t *testing.T) {
	if e := candor.From(nil, candor.WithTool("t")); e != nil {
		t.Errorf("From(nil) = %v", e)
	}
	if e := candor.FromUnknown(nil); e != nil {
		t.Errorf("FromUnknown(nil) = %v", e)
	}
	if candor.CodeOf(nil).Valid() {
		t.Error("nil has a code")
	}
	// From returns nil for nil only, so that a caller behind "err != nil" need not check again. A nil pointer in an error is a bug in
	// the server and is reported as one.
	for name, err := range map[string]error{
		"ours":           (*candor.Error)(nil),
		"ours, wrapped":  fmt.Errorf("x: %w", (*candor.Error)(nil)),
		"path":           (*fs.PathError)(nil),
		"path, wrapped":  fmt.Errorf("x: %w", (*fs.PathError)(nil)),
		"path, joined":   errors.Join(io.EOF, (*fs.PathError)(nil)),
		"with a code":    (*kaizaError)(nil),
		"a code wrapper": (*wrapError)(nil),
		"slice":          forest(nil),
	} {
		e := candor.From(err)
		if e == nil || e.Code() != candor.CodeInternalError {
			t.Errorf("%s: From = %v, want INTERNAL_ERROR", name, e)
			continue
		}
		if again := candor.FromUnknown(err); again == nil || again.Code() != e.Code() {
			t.Errorf("%s: FromUnknown = %v", name, again)
		}
		if candor.CodeOf(err).Valid() {
			t.Errorf("%s has a code", name)
		}
		_ = errors.Is(e, context.Canceled) // the kept error can be walked
		_ = marshal(t, e) + fmt.Sprintf("%+v", e)
	}
	real := candor.New(candor.CodeTimeout, "")
	if got := candor.From(errors.Join((*candor.Error)(nil), real)); got != real {
		t.Errorf("a nil pointer hides the real error: %v", got)
	}
}

func TestConversionIsIdempotent(t *testing.T) {
	first := candor.From(io.ErrUnexpectedEOF, candor.WithTool("t"))
	for name, err := range map[string]error{
		"itself":         first,
		"wrapped":        fmt.Errorf("a: %w", fmt.Errorf("b: %w", first)),
		"joined":         errors.Join(io.EOF, first),
		"in a forest":    forest{io.EOF, forest{fmt.Errorf("c: %w", first)}},
		"over a code":    &wrapError{"PLAN_NOT_FOUND", first},
		"over cancelled": fmt.Errorf("%w: %w", context.Canceled, first),
	} {
		if got := candor.From(err, candor.Otherwise(candor.CodeTimeout)); got != first {
			t.Errorf("%s: From gave another error: %v", name, got)
		}
		if got := candor.From(err, candor.WithTool("other")); got == first || got.CallInfo().Tool != "other" || first.CallInfo().Tool != "t" {
			t.Errorf("%s: the option was not applied to a copy: %+v", name, got)
		}
		if got := candor.FromUnknown(err); got != first {
			t.Errorf("%s: FromUnknown gave another error: %v", name, got)
		}
		if candor.CodeOf(err) != first.Code() {
			t.Errorf("%s: CodeOf = %v", name, candor.CodeOf(err))
		}
	}
	outer := candor.New(candor.CodeTimeout, "", candor.WithCause(first))
	if candor.From(outer) != outer {
		t.Error("the outer error must win over the one it wraps")
	}
}

// TestStandardErrorsGetTheCodeThatFits checks a table of real errors, most of them made by the standard library itself.
func TestStandardErrorsGetTheCodeThatFits(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "secret-project", "nothing.txt"))
	dir := t.TempDir()
	exists := os.Mkdir(dir, 0o700)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	_, outside := root.Open("../x")
	var number struct{ N int }
	badType := json.Unmarshal([]byte(`{"N":"x"}`), &number)
	badJSON := json.Unmarshal([]byte(`{`), &number)
	_, badValue := json.Marshal(math.NaN())
	_, badGo := json.Marshal(map[string]any{"c": make(chan int)})
	request := func(err error) error { return &url.Error{Op: "Get", URL: "http://example.com/", Err: err} }
	for name, test := range map[string]struct {
		err  error
		want candor.Code
	}{
		"cancelled":           {context.Canceled, candor.CodeCancelled},
		"cancelled request":   {request(context.Canceled), candor.CodeCancelled},
		"deadline":            {fmt.Errorf("q: %w", context.DeadlineExceeded), candor.CodeTimeout},
		"deadline of request": {request(context.DeadlineExceeded), candor.CodeTimeout},
		"missing file":        {missing, kaiza.FileNotFound},
		"errno":               {syscall.ENOENT, kaiza.FileNotFound},
		"a folder for a file": {&fs.PathError{Op: "read", Path: ".", Err: syscall.EISDIR}, kaiza.InvalidPath},
		"outside an fs.FS":    {&fs.PathError{Op: "open", Path: "../x", Err: fs.ErrInvalid}, kaiza.InvalidPath},
		"outside an os.Root":  {outside, kaiza.InvalidPath},
		"an invalid argument": {&fs.PathError{Op: "read", Path: "x", Err: syscall.EINVAL}, candor.CodeInternalError},
		"existing file":       {exists, kaiza.FileAlreadyExists},
		"no permission":       {&fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES}, kaiza.InsufficientPermissions},
		"disk full":           {&fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}, candor.CodeDiskFull},
		"wrong type":          {badType, kaiza.InvalidInputType},
		"not JSON":            {badJSON, kaiza.InvalidInputFormat},
		"NaN":                 {badValue, candor.CodeResultNotEncodable},
		"channel":             {badGo, candor.CodeResultNotEncodable},
		"refused":             {dialClosedPort(t), candor.CodeUpstreamUnreachable},
		"refused request":     {request(dialClosedPort(t)), candor.CodeUpstreamUnreachable},
		"no such socket":      {dialMissingSocket(t), candor.CodeUpstreamUnreachable},
		"read deadline":       {readTimeout(t), candor.CodeUpstreamTimeout},
		"no such host":        {&net.DNSError{Err: "no such host", Name: "nope.invalid", IsNotFound: true}, candor.CodeUpstreamUnreachable},
		"slow name server":    {&net.DNSError{Err: "timeout", Name: "x.invalid", IsTimeout: true}, candor.CodeUpstreamTimeout},
		"reset":               {syscall.ECONNRESET, candor.CodeUpstreamUnreachable},
		"broken pipe":         {fmt.Errorf("w: %w", syscall.EPIPE), candor.CodeUpstreamUnreachable},
		"closed connection":   {net.ErrClosed, candor.CodeUpstreamUnreachable},
		"pipe deadline":       {&fs.PathError{Op: "read", Path: "|0", Err: os.ErrDeadlineExceeded}, candor.CodeTimeout},
		"bare deadline":       {os.ErrDeadlineExceeded, candor.CodeTimeout},
		"anything else":       {errors.New("sprocket 7 of /home/ann/plant/machine.cfg broke"), candor.CodeInternalError},
	} {
		if test.err == nil {
			t.Errorf("%s: the test made no error", name)
			continue
		}
		e := candor.From(test.err)
		if e.Code() != test.want {
			t.Errorf("%s: %v became %v, want %v", name, test.err, e.Code(), test.want)
		}
		if e.Message() != test.want.Info().Sentence {
			t.Errorf("%s: the text of the cause is in the message: %q", name, e.Message())
		}
		if !errors.Is(e, test.err) || errors.Unwrap(e) == nil {
			t.Errorf("%s: errors.Is does not see the cause", name)
		}
		if e.Retry() != test.want.Retry() || e.Origin() != (candor.Origin{By: candor.PartyServer}) || e.Validate() != nil {
			t.Errorf("%s: %+v", name, e)
		}
		if raw := marshal(t, e); strings.Contains(raw, "secret-project") || strings.Contains(raw, "/home/ann") {
			t.Errorf("%s: a directory is on the wire: %s", name, raw)
		}
	}
	var path *fs.PathError
	if !errors.As(candor.From(missing), &path) || path.Op != "open" {
		t.Error("errors.As does not reach the PathError")
	}
}

func TestOtherwiseOnlyReplacesTheLastResort(t *testing.T) {
	unknown := errors.New("sprocket")
	fallback := candor.Otherwise(candor.CodeTimeout)
	if e := candor.From(unknown, fallback); e.Code() != candor.CodeTimeout || e.Message() != candor.CodeTimeout.Info().Sentence || e.Retry() != candor.CodeTimeout.Retry() {
		t.Errorf("%+v", e)
	}
	if e := candor.From(context.Canceled, fallback); e.Code() != candor.CodeCancelled {
		t.Errorf("a specific rule lost: %v", e)
	}
	for _, order := range [][]candor.Option{
		{candor.WithRetry(candor.NoRetry()), candor.WithMessage("mine"), fallback},
		{fallback, candor.WithMessage("mine"), candor.WithRetry(candor.NoRetry())},
	} {
		e := candor.From(unknown, order...)
		if e.Retry() != candor.NoRetry() || e.Message() != "mine" || e.Code() != candor.CodeTimeout {
			t.Errorf("what was said is not kept: %+v", e)
		}
	}
	if e := candor.FromUnknown("boom", candor.Otherwise(0)); e.Code() != candor.CodeInternalError {
		t.Errorf("no code replaced a code: %v", e)
	}
}

func TestThrownValuesKeepTheirTextInTheCause(t *testing.T) {
	for name, test := range map[string]struct {
		thrown any
		want   string
	}{
		"text":   {"boom", "boom"},
		"number": {42, "42"},
		"list":   {[]any{"a", 1}, `["a",1]`},
		"map":    {map[string]any{"message": "boom", "code": 1234567, "name": "TypeError"}, "boom"},
	} {
		e := candor.FromUnknown(test.thrown)
		if e.Code() != candor.CodeInternalError || e.Message() != candor.CodeInternalError.Info().Sentence || e.Cause().Message != test.want {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if c := candor.FromUnknown(map[string]any{"message": "boom", "code": 1234567, "name": 3}).Cause(); c.Code != "1234567" || c.Message != "boom" {
		t.Errorf("%+v", c)
	}
}

func dialClosedPort(t *testing.T) error {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:1") // another program may listen on a port that was closed
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func dialMissingSocket(t *testing.T) error {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(t.TempDir(), "s"))
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// readTimeout reads from a connection after its deadline.
func readTimeout(t *testing.T) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetReadDeadline(past); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// TestThePlainErrorsOfTheLibraryAreKnownAsTheyAre compares the short path for plain errors with the rules.
func TestThePlainErrorsOfTheLibraryAreKnownAsTheyAre(t *testing.T) {
	for _, err := range []error{
		context.Canceled, fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, io.EOF, io.ErrUnexpectedEOF, errors.ErrUnsupported, net.ErrClosed,
		os.ErrDeadlineExceeded, context.DeadlineExceeded, errors.New("context canceled"),
	} {
		wrapped := fmt.Errorf("reading: %w", err) // not plain, so it takes the long path
		if got, want := candor.From(err).Code(), candor.From(wrapped).Code(); got != want {
			t.Errorf("%v is %v, and wrapped %v", err, got, want)
		}
	}
}

// Types with methods that fail while a failure is reported.
type (
	badJSON   struct{}
	badText   struct{}
	badCode   struct{}
	badNumber struct{}
	badUnwrap struct{}
	badForest struct{}
	badError  struct{}
	badNil    struct{ *badJSON }
)

func (badJSON) MarshalJSON() ([]byte, error) { panic("json") }
func (badText) MarshalText() ([]byte, error) { panic("text") }
func (badCode) Error() string                { return "bad code" }
func (badCode) ErrorCode() string            { panic("code") }
func (badNumber) Error() string              { return "bad number" }
func (badNumber) Code() int                  { panic("number") }
func (badUnwrap) Error() string              { return "bad unwrap" }
func (badUnwrap) Unwrap() error              { panic("unwrap") }
func (badForest) Error() string              { return "bad forest" }
func (badForest) Unwrap() []error            { panic("forest") }
func (badError) Error() string               { panic("error") }

// TestForeignMethodsMayPanic checks that a failure is reported even if methods of the caller's types panic.
func TestForeignMethodsMayPanic(t *testing.T) {
	for name, v := range map[string]any{"json": badJSON{}, "text": badText{}, "nil receiver": badNil{}, "pointer": &badJSON{}} {
		if got := candor.DetailsOf(map[string]any{"a": v, "b": 1}).String(); got != `{"a":"[unencodable]","b":1}` {
			t.Errorf("%s: %s", name, got)
		}
		if e := candor.FromUnknown(v); e.Code() != candor.CodeInternalError {
			t.Errorf("%s: %v", name, e)
		}
	}
	for _, err := range []error{badCode{}, badNumber{}, badUnwrap{}, badForest{}, badError{}} {
		for _, wrapped := range []error{err, forest{err}, errors.Join(err, err)} {
			e := candor.From(wrapped)
			if e.Code() != candor.CodeInternalError || e.Cause().Message == "" {
				t.Errorf("%T: %v, cause %+v", err, e, e.Cause())
			}
			if errors.Is(e, errEOF) { // errors.Is must be able to walk the result
				t.Errorf("%T is what it is not", err)
			}
			e = candor.New(candor.CodeTimeout, "", candor.WithCause(wrapped), candor.WithDetails(wrapped))
			if e.Details().IsZero() || candor.CodeOf(e) != candor.CodeTimeout {
				t.Errorf("%T: %v", err, e)
			}
		}
	}
}

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
		c := candor.New(candor.CodeTimeout, "", candor.WithCauseText(candor.Cause{Message: "m", Code: "password=hunter2hunter2", Name: "/home/ann/src/app/main.go"})).Cause()
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
	if len(c.Message) > limits.Cause || len(c.Code) > limits.CallInfo || len(c.Name) > limits.CallInfo {
		t.Errorf("%s: out of bounds: %d, %d, %d bytes", name, len(c.Message), len(c.Code), len(c.Name))
	}
	raw := c.AppendJSON(nil)
	if !json.Valid(raw) || !utf8.Valid(raw) {
		t.Errorf("%s: not JSON: %s", name, raw)
	}
}

// TestK2StacksAreShownOnlyWhenAskedFor checks that only the exact word "true" enables DEBUG_STACK, and that a stack is written
// only if the options ask for it.
func TestK2StacksAreShownOnlyWhenAskedFor(t *testing.T) {
	for debug, want := range map[string]bool{"true": true, "": false, "TRUE": false, "True": false, "1": false, "yes": false, " true": false, "true ": false, "false": false} {
		if p, err := candor.ParseStackPolicy(debug, ""); err != nil || p.Debug != want || p.Wanted() != want {
			t.Errorf("DEBUG_STACK=%q: %+v, %v", debug, p, err)
		}
	}
	for verbose, want := range map[string]int{"": 0, "0": 0, "1": 1, "5": 5, "full": -1} {
		if p, err := candor.ParseStackPolicy("", verbose); err != nil || p.Verbose != want || p.Wanted() != (want != 0) {
			t.Errorf("MCP_ERRORS_VERBOSE=%q: %+v, %v", verbose, p, err)
		}
	}
	for _, verbose := range []string{"-1", "many", "1.5", "FULL", "true", " 1", "1e3", "99999999999999999999"} {
		if p, err := candor.ParseStackPolicy("true", verbose); err == nil || p != (candor.StackPolicy{}) || !strings.Contains(err.Error(), `"full"`) {
			t.Errorf("MCP_ERRORS_VERBOSE=%q: %+v, %v", verbose, p, err)
		}
	}
	e := candor.New(candor.CodeTimeout, "", candor.WithStack("main.f (main.go:1)"))
	if strings.Contains(marshal(t, e), "main.go") {
		t.Error("a stack is shown to whoever asks for JSON")
	}
	if raw := string(e.AppendJSON(nil, candor.JSONOptions{Stack: true})); !strings.Contains(raw, `"stack":"main.f (main.go:1)"`) {
		t.Error(raw)
	}
	if strings.Contains(string(candor.New(candor.CodeTimeout, "").AppendJSON(nil, candor.JSONOptions{Stack: true})), "stack") {
		t.Error("an error without a stack shows one")
	}
}

type worker[T any] struct{}

func (w *worker[T]) run(pcs []uintptr) int {
	return func() int { return runtime.Callers(1, pcs) }()
}

// TestH12FramesHaveNoHarnessAndNoDirectories checks that a stack names the functions of the tool and nothing about the machine.
func TestH12FramesHaveNoHarnessAndNoDirectories(t *testing.T) {
	pcs := make([]uintptr, 64)
	var n int
	func() {
		defer func() {
			_ = recover()
			n = (&worker[int]{}).run(pcs)
		}()
		list := make([]int, len(pcs)-64)
		list[n]++ // adds frames of the runtime
	}()
	for _, p := range []candor.StackPolicy{{Debug: true}, {Verbose: 2}, {Verbose: -1}, {Debug: true, Verbose: 1}} {
		stack := p.Frames(pcs[:n])
		lines := strings.Split(stack, "\n")
		if len(lines) < 3 || !strings.Contains(lines[0], "worker") || !strings.Contains(stack, "candor_test.TestH12") {
			t.Fatalf("the frames of the test are missing:\n%s", stack)
		}
		form := regexp.MustCompile(`^[^/\s]+ \([^/\s]+\.go:\d+\)$`)
		for _, line := range lines {
			if !form.MatchString(line) {
				t.Errorf("frame %q", line)
			}
			for _, harness := range []string{"runtime.", "testing.", "candor.New"} {
				if strings.HasPrefix(line, harness) {
					t.Errorf("a frame of the harness: %q", line)
				}
			}
		}
		first := p.FirstFrames(stack)
		switch {
		case p.Verbose == 0 && first != "":
			t.Errorf("nobody asked for frames in rpc: %q", first)
		case p.Verbose > 0 && (strings.Count(first, "\n")+1 != p.Verbose || !strings.HasPrefix(stack, first)):
			t.Errorf("%d frames wanted: %q", p.Verbose, first)
		case p.Verbose < 0 && first != stack:
			t.Errorf("all frames wanted: %q", first)
		}
		if e := candor.New(candor.CodeTimeout, "", candor.WithStack(stack)); e.Stack() != stack {
			t.Errorf("redaction damages a stack:\n%s\n%s", stack, e.Stack())
		}
	}
	if got := (candor.StackPolicy{}).Frames(pcs[:n]); got != "" {
		t.Errorf("nobody asked: %q", got)
	}
	if got := (candor.StackPolicy{Debug: true}).Frames(nil); got != "" {
		t.Errorf("no frames: %q", got)
	}
	if got := (candor.StackPolicy{Verbose: 3}).FirstFrames(""); got != "" {
		t.Errorf("no stack: %q", got)
	}
}

func TestAsErrorConvertsNothing(t *testing.T) {
	first := candor.New(candor.CodeTimeout, "")
	if got, ok := candor.AsError(fmt.Errorf("around: %w", first)); got != first || !ok {
		t.Errorf("a known error: %v, %v", got, ok)
	}
	if got, ok := candor.AsError(errors.New("plain")); got != nil || ok {
		t.Errorf("a plain error: %v, %v", got, ok)
	}
}
