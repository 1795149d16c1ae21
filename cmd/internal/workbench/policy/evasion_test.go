package policy_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/policy"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// TestRustCodeInDisguiseIsRefused checks code that rustc compiles in spite of unusual spelling.
func TestRustCodeInDisguiseIsRefused(t *testing.T) {
	for code, rule := range map[string]string{
		"let a = b./**/unwrap();":                       "RUST_NO_UNWRAP", // a comment is white space
		"let a = b. // why\n unwrap();":                 "RUST_NO_UNWRAP",
		"panic/* x */!(\"x\")":                          "RUST_NO_PANIC",
		"#/**/[/**/allow/**/(dead_code)]":               "RUST_NO_ALLOW",
		"let a = b.\vunwrap();":                         "RUST_NO_UNWRAP", // other white space
		"let a = b.\u0085unwrap();":                     "RUST_NO_UNWRAP",
		"let a = b.\u200eunwrap();":                     "RUST_NO_UNWRAP",
		"let a = b.\u200funwrap();":                     "RUST_NO_UNWRAP",
		"let a = b.\u2028unwrap();":                     "RUST_NO_UNWRAP",
		"todo\u2029!()":                                 "RUST_NO_TODO",
		"let s =\u2028r#\"\\\"#; todo!(); // \"":        "RUST_NO_TODO", // the raw string begins after the separator
		"let a = b.r#unwrap();":                         "RUST_NO_UNWRAP",
		"x.map(Option::r#unwrap)":                       "RUST_NO_UNWRAP",
		"b.r#expect(\"x\")":                             "RUST_NO_EXPECT",
		"r#todo!()":                                     "RUST_NO_TODO",
		"#[cfg_attr(all(), allow(dead_code))]":          "RUST_NO_ALLOW",
		"#![cfg_attr(not(x),\n allow(warnings))]":       "RUST_NO_ALLOW",
		"fn f() { todo!() }\nmod m { #![cfg(test)] }":   "RUST_NO_TODO", // the attribute applies to the module, not the file
		"match x { #[cfg(test)] A => 1, B => todo!() }": "RUST_NO_TODO", // the attribute applies to one arm
		"f(#[cfg(test)] a, b.unwrap());":                "RUST_NO_UNWRAP",
		"let s = stringify!(#[test]); todo!()":          "RUST_NO_TODO",
		"let n = g(stringify!(#[test]), b.unwrap());":   "RUST_NO_UNWRAP",
		"S { #[cfg(test)] a: 1, b: c.unwrap() }":        "RUST_NO_UNWRAP",
		"[#[cfg(test)] a, b.unwrap()]; f();":            "RUST_NO_UNWRAP",
	} {
		e := check(t, policy.Default(), "src/a.rs", "", code)
		if e == nil || e.Code() != kaiza.RustPolicyViolation || !strings.Contains(e.Details().String(), `"rule":"`+rule+`"`) {
			t.Errorf("%q: %v", code, e)
		}
	}
}

// TestATestWithCommasMayStay checks that a comma, which ends a field or an arm, does not end an item.
func TestATestWithCommasMayStay(t *testing.T) {
	for _, code := range []string{
		"#[test]\nfn a<A, B>(x: A, y: B) -> [u8; 2] where A: X, B: Y { x.unwrap() }",
		"#[test]\n#[ignore]\nfn a() { x.unwrap() }",
		"#[cfg(test)]\npub(crate) mod t { fn a() { f(1, x.unwrap()) } }",
		"#[cfg(test)]\nimpl<A, B> X<A, B> for Y { fn a() { x.unwrap() } }",
		"#[cfg(test)]\nmacro_rules! m { () => { x.unwrap(), 1 } }",
		"#[cfg(test)] let (a, b) = (1, x.unwrap());",
		"// for tests\n#![allow_x]\n#![cfg(test)]\nfn a() { x.unwrap() }",
		"match x { #[cfg(test)] A => f(1, b.unwrap()), B => 2 }",
	} {
		if e := check(t, policy.Default(), "src/a.rs", "", code); e != nil {
			t.Errorf("%q: %v", code, e)
		}
	}
}
