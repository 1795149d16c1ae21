package rules

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/wire"
)

// The kinds of codes, by where the code was found.
const (
	kindNumber = "number" // error.code of JSON-RPC
	kindSymbol = "symbol" // a member
	kindHTTP   = "http"   // a status, in a member
	kindText   = "text"   // in prose
	kindNone   = "none"
)

// code is a code that a failure carries.
type code struct {
	kind, value string
	machine     bool // a program can read it: it is a member, or the first token of the text
}

// facts are the parts of a failure that it states itself. Nothing in them is inferred.
type facts struct {
	dialect string
	codes   []code
	issues  []candor.Issue
	retry   bool // it has retry advice
	again   bool // it allows a retry
	delay   bool // it has a retry delay
	ref     bool
	stack   bool
	hidden  bool          // its text hides the cause, as in "Internal error"
	own     *candor.Error // the canonical error, nil if it is not attached
}

// facts returns the facts of the failure, read once.
func (s *caseResult) facts() *facts {
	if s.read == nil {
		s.read = s.readFacts()
	}
	return s.read
}

func (s *caseResult) readFacts() *facts {
	f := &facts{}
	if !s.answered() {
		return f
	}
	f.readDialect(s.message.Value())
	f.retry = f.retry || adviceOnRetry.MatchString(s.text())
	args := s.arguments()
	if e := s.message.Error(); e.Present() {
		number, _ := e.Path("code").Int64()
		message, _ := e.Path("message").Str()
		data := e.Path("data")
		f.take(foreign.ReadValue(data, args), kindSymbol)
		f.codes = append(f.codes, code{kindNumber, strconv.FormatInt(number, 10), true})
		f.take(foreign.ReadRPC(number, message, data, args), "")
		return f
	}
	structured, _ := s.message.ResultMember("structuredContent")
	for _, v := range []wire.Value{s.payload(), structured} {
		if v.Present() {
			f.take(foreign.ReadValue(v, args), kindSymbol)
			f.takeMembers(v)
		}
	}
	if text, ok := s.firstText(); ok && !s.payload().Present() {
		f.take(foreign.ReadText(text, args), kindText)
	} else {
		f.take(foreign.ReadResult(s.message.Result(), args), "")
	}
	return f
}

// readDialect adds the facts of an envelope in a known dialect, and of the canonical error if it is attached.
func (f *facts) readDialect(v wire.Value) {
	if d, ok := dialect.Detect(v); ok {
		f.dialect = d.Name()
		if e, err := d.Read(v); err == nil && e.Code().Valid() {
			f.codes = append(f.codes, code{kindSymbol, e.Code().Symbol(), true})
			f.issues = append(f.issues, e.Details().Issues()...)
		}
	}
	own, ok := dialect.Embedded(v)
	if !ok {
		return
	}
	e, err := dialect.ReadCandor(own)
	if err != nil {
		return
	}
	f.own = e
	f.codes = append(f.codes, code{kindSymbol, e.Code().Symbol(), true})
	f.issues = append(f.issues, e.Details().Issues()...)
	f.retry = true
	f.again = f.again || e.Retry().Retryable()
	f.delay = f.delay || e.Retry().AfterMs() > 0
	f.ref = f.ref || e.Ref() != ""
}

// take adds the facts of a foreign error. kind is the kind of its codes; "" adds no codes.
func (f *facts) take(s foreign.Said, kind string) {
	if kind != "" {
		for _, symbol := range s.Symbols {
			f.codes = append(f.codes, code{kind, symbol, kind == kindSymbol || s.Prefixed})
		}
		if s.Status != 0 && kind == kindSymbol {
			f.codes = append(f.codes, code{kindHTTP, strconv.Itoa(s.Status), true})
		} else if s.Status != 0 {
			f.codes = append(f.codes, code{kindText, strconv.Itoa(s.Status), false})
		}
		if s.Numbered && kind == kindSymbol {
			f.codes = append(f.codes, code{kindNumber, strconv.FormatInt(s.Number, 10), true})
		}
	}
	f.issues = append(f.issues, s.Issues...)
	f.retry = f.retry || s.Retryable != nil || s.Delayed || !s.RetryAt.IsZero()
	f.again = f.again || s.Retryable != nil && *s.Retryable
	f.delay = f.delay || s.Delayed || !s.RetryAt.IsZero()
	f.ref = f.ref || s.RequestID != ""
	f.stack = f.stack || s.Stack != ""
	f.hidden = f.hidden || s.Masked
}

// takeMembers adds retry advice that is in a separate member, as dialects write it.
func (f *facts) takeMembers(v wire.Value) {
	inner := v.Path("error")
	for _, at := range []wire.Value{v, inner, inner.Path("details"), v.Path("data", "error")} {
		if retry := at.Path("retry"); retry.Type() == wire.TypeObject {
			f.retry = true
			kind, _ := retry.Path("kind").Str()
			f.again = f.again || strings.HasPrefix(kind, "retryable")
			f.delay = f.delay || retry.Path("afterMs").Type() == wire.TypeNumber
		}
	}
}

// machineCode returns the code that a program can read; ok is false if there is none.
func (f *facts) machineCode() (c code, ok bool) {
	for _, c := range f.codes {
		if c.machine {
			return c, true
		}
	}
	return code{}, false
}

// arguments returns the arguments of the call.
func (s *caseResult) arguments() wire.Value {
	if s.exchange.Request == nil {
		return wire.Value{}
	}
	return s.exchange.Request.Params().Path("arguments")
}
