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
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
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
			if got := candor.FromUnknown(text); got.Code() != candor.CodeInternalError || got.Message() != candor.CodeInternalError.Sentence() {
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
		if got := candor.From(err, candor.WithTool("other"), candor.Otherwise(candor.CodeTimeout)); got != first {
			t.Errorf("%s: From gave another error: %v", name, got)
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
		if e.Message() != test.want.Sentence() {
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
	if e := candor.From(unknown, fallback); e.Code() != candor.CodeTimeout || e.Message() != candor.CodeTimeout.Sentence() || e.Retry() != candor.CodeTimeout.Retry() {
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
	if e := candor.FromUnknown("boom", candor.Otherwise(candor.Code{})); e.Code() != candor.CodeInternalError {
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
		if e.Code() != candor.CodeInternalError || e.Message() != candor.CodeInternalError.Sentence() || e.Cause().Message != test.want {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if c := candor.FromUnknown(map[string]any{"message": "boom", "code": 1234567, "name": 3}).Cause(); c.Code != "1234567" || c.Message != "boom" {
		t.Errorf("%+v", c)
	}
}

func dialClosedPort(t *testing.T) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
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

// readTimeout reads from a connection whose deadline has passed.
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

func TestKnownCodeIsWhatFromFinds(t *testing.T) {
	for _, err := range []error{
		nil, errors.New("anything"), context.DeadlineExceeded, fmt.Errorf("while reading: %w", fs.ErrNotExist),
		candor.New(candor.CodeRateLimited, ""), fmt.Errorf("wrapped: %w", candor.New(candor.CodeConflict, "")), errors.New("[PLAN_NOT_FOUND] no plan"),
	} {
		want := candor.From(err).Code()
		if want == candor.CodeInternalError {
			want = candor.Code{}
		}
		if got := candor.KnownCode(err); got != want {
			t.Errorf("%v: %v, From finds %v", err, got, want)
		}
	}
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
