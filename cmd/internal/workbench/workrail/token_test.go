package workrail_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// TestW12EachTokenProblemHasItsCode covers all errors except altered characters.
func TestW12EachTokenProblemHasItsCode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	a, other := s.begin("plain", nil), s.begin("plain", nil)
	reason := func(b answer, code, want string) {
		t.Helper()
		b.is(code).wellFormed()
		if got := b.detail("reason"); got != want {
			t.Errorf("%s: the reason is %q, want %q", code, got, want)
		}
	}
	reason(s.call("continue_workflow", args{"continueToken": "xx" + a.token()[2:]}), "TOKEN_INVALID_FORMAT", "wrong_prefix")
	reason(s.call("continue_workflow", args{"continueToken": a.token()[:42]}), "TOKEN_INVALID_FORMAT", "too_short")
	reason(s.call("continue_workflow", args{"continueToken": a.token() + "0"}), "TOKEN_INVALID_FORMAT", "too_long")
	reason(s.call("continue_workflow", args{"continueToken": a.token()[:42] + "U"}), "TOKEN_INVALID_FORMAT", "wrong_character")
	reason(s.call("continue_workflow", args{"continueToken": "ct_z" + a.token()[4:]}), "TOKEN_UNSUPPORTED_VERSION", "unknown_version")
	reason(s.call("continue_workflow", args{"continueToken": flip(a.token(), 42)}), "TOKEN_BAD_SIGNATURE", "signature_mismatch")
	reason(s.call("continue_workflow", args{"continueToken": a.data("resumeToken")}), "TOKEN_SCOPE_MISMATCH", "wrong_kind")
	reason(s.call("resume_session", args{"resumeToken": a.token()}), "TOKEN_SCOPE_MISMATCH", "wrong_kind")
	reason(s.call("resume_session", args{"resumeToken": a.data("resumeToken"), "sessionId": other.data("sessionId")}), "TOKEN_SCOPE_MISMATCH", "other_session")
	// The signature covers the kind: the payload of one kind with the prefix of the other is not a token.
	reason(s.call("continue_workflow", args{"continueToken": "ct_" + a.data("resumeToken")[3:]}), "TOKEN_BAD_SIGNATURE", "signature_mismatch")
	// Another server has another key.
	foreign := newPlace(t).start().begin("plain", nil)
	reason(s.call("continue_workflow", args{"continueToken": foreign.token()}), "TOKEN_BAD_SIGNATURE", "signature_mismatch")
	// The token is genuine, but its session was removed.
	if err := os.RemoveAll(p.session(other.data("sessionId"))); err != nil {
		t.Fatal(err)
	}
	s.call("continue_workflow", args{"continueToken": other.token()}).is("TOKEN_UNKNOWN_NODE").wellFormed()
	s.call("resume_session", args{"resumeToken": other.data("resumeToken")}).is("TOKEN_UNKNOWN_NODE").wellFormed()
	// The tokens of a key that was replaced are refused.
	s.End()
	p.replaceKey()
	s = p.start()
	reason(s.call("continue_workflow", args{"continueToken": a.token()}), "TOKEN_BAD_SIGNATURE", "signature_mismatch")
	b := s.call("resume_session", args{"sessionId": a.data("sessionId")}).kind("step")
	s.walk(b, 1)
}

// TestW12SignaturesAreComparedInConstantTime checks in the source that the only comparison of a signature is
// hmac.Equal.
func TestW12SignaturesAreComparedInConstantTime(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("token/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	equal := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if c, ok := n.(*ast.BinaryExpr); ok && (c.Op == token.EQL || c.Op == token.NEQ) {
				if text, ok := c.X.(*ast.CallExpr); ok && types.ExprString(text.Fun) == "string" {
					t.Errorf("%s compares bytes as texts", name)
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				switch from, _ := f.X.(*ast.Ident); {
				case from != nil && from.Name == "hmac" && f.Sel.Name == "Equal":
					equal++
				case f.Sel.Name == "Equal" && from != nil && (from.Name == "bytes" || from.Name == "slices"), f.Sel.Name == "Compare", f.Sel.Name == "DeepEqual":
					t.Errorf("%s compares bytes with %s.%s", name, from.Name, f.Sel.Name)
				}
			}
			return true
		})
	}
	if equal != 1 {
		t.Errorf("hmac.Equal is called %d times, want once", equal)
	}
}

// replaceKey replaces the key of the state with that of another server.
func (p *place) replaceKey() {
	p.t.Helper()
	other := newPlace(p.t)
	other.start().End()
	p.write(filepath.Join(p.state, "token.key"), p.read(filepath.Join(other.state, "token.key")))
}

// TestW12ServersThatStartTogetherShareTheirKeys starts servers on a new state directory, each of which would create a
// key.
func TestW12ServersThatStartTogetherShareTheirKeys(t *testing.T) {
	t.Parallel()
	for range servertest.Rounds(3, 50) {
		p := newPlace(t)
		servers := make([]*server, 4)
		var all sync.WaitGroup
		for i := range servers {
			all.Go(func() { servers[i] = p.start() })
		}
		all.Wait()
		for _, s := range servers {
			a := s.begin("plain", nil)
			for _, other := range servers {
				a = other.walk(a, 1)
			}
		}
		for _, s := range servers {
			s.End()
		}
		if t.Failed() {
			return
		}
	}
}
