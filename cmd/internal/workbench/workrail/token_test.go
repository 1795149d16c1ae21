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
)

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// TestW12EveryAlteredTokenIsRefused flips, removes and adds characters everywhere, and checks that no altered token is
// accepted or changes anything.
func TestW12EveryAlteredTokenIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	first := s.begin("plain", nil)
	a := s.walk(first, 3)
	id := a.data("sessionId")
	seen := map[string]int{}
	refused := func(what, tool, field, altered string) {
		t.Helper()
		b := s.call(tool, args{field: altered})
		if !b.failed() {
			t.Fatalf("%s: accepted: %s", what, b.m.Bytes())
		}
		code := b.code()
		if code == "VALIDATION_ERROR" && altered == "" {
			return
		}
		if !strings.HasPrefix(code, "TOKEN_") || b.detail("tokenErrorCode") != code || b.detail("reason") == "" || b.detail("expected") == "" {
			t.Fatalf("%s: %s", what, b.m.Bytes())
		}
		if len(altered) > 6 && strings.Contains(string(b.m.Bytes()), altered[3:]) {
			t.Fatalf("%s: the token is shown: %s", what, b.m.Bytes())
		}
		seen[code+"/"+b.detail("reason")]++
	}
	step := 5
	switch {
	case *long:
		step = 1
	case testing.Short():
		step = 11
	}
	for tool, use := range map[string][2]string{"continue_workflow": {"continueToken", a.token()}, "resume_session": {"resumeToken", a.data("resumeToken")}} {
		field, token := use[0], use[1]
		for i := 0; i < len(token); i++ {
			for j := 0; j < len(alphabet); j += step {
				if c := alphabet[j]; c != token[i] {
					refused("flipped", tool, field, token[:i]+string(c)+token[i+1:])
				}
			}
			for _, c := range []string{"A", "I", "l", "o", "u", "-", "=", " ", "\n", "\x00", "é"} {
				if c != token[i:i+1] {
					refused("replaced", tool, field, token[:i]+c+token[i+1:])
					refused("added", tool, field, token[:i]+c+token[i:])
				}
			}
			refused("removed", tool, field, token[:i]+token[i+1:])
			refused("doubled", tool, field, token[:i+1]+token[i:])
			refused("cut", tool, field, token[:i])
			if i > 0 && token[i] != token[i-1] {
				refused("swapped", tool, field, token[:i-1]+token[i:i+1]+token[i-1:i]+token[i+1:])
			}
		}
		refused("upper case", tool, field, strings.ToUpper(token))
		refused("twice", tool, field, token+token)
		refused("quoted", tool, field, `"`+token+`"`)
	}
	if got := s.steps(id); len(got) != 3 {
		t.Errorf("%d steps are recorded, want 3", len(got))
	}
	s.healthy(id)
	t.Logf("refused: %v", seen)
	s.walk(a, 1).kind("step")
}

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
	reason(s.call("continue_workflow", args{"continueToken": a.token()[:5] + "zz" + a.token()[7:]}), "TOKEN_BAD_SIGNATURE", "unknown_key")
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
	// The tokens of a keyring that was replaced are refused, also by a running server.
	p.replaceKeys()
	reason(s.call("continue_workflow", args{"continueToken": a.token()}), "TOKEN_BAD_SIGNATURE", "signature_mismatch")
	b := s.call("resume_session", args{"sessionId": a.data("sessionId")}).kind("step")
	s.walk(b, 1)
}

// TestW12NewTokensAreSignedWithTheKeysOfTheDisk checks that a server whose keys were changed by another process returns
// tokens that it accepts.
func TestW12NewTokensAreSignedWithTheKeysOfTheDisk(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	s.begin("plain", nil)
	p.replaceKeys()
	s.walk(s.begin("plain", nil), 1).kind("step")
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

// replaceKeys replaces the keys of the state with those of another server.
func (p *place) replaceKeys() {
	p.t.Helper()
	other := newPlace(p.t)
	other.start().End()
	p.write(filepath.Join(p.state, "keys.json"), p.read(filepath.Join(other.state, "keys.json")))
}

// TestW12ServersThatStartTogetherShareTheirKeys starts servers on a new state directory, each of which would create a
// key.
func TestW12ServersThatStartTogetherShareTheirKeys(t *testing.T) {
	t.Parallel()
	for range rounds(3, 50) {
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
