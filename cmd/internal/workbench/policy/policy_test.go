package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/policy"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func check(t *testing.T, p *policy.Policy, path, before, after string) *candor.Error {
	t.Helper()
	err := p.Check(path, []byte(before), []byte(after))
	e, ok := errors.AsType[*candor.Error](err)
	if err != nil && (!ok || e.Validate() != nil) {
		t.Fatalf("%v %v", err, e.Validate())
	}
	return e
}

func TestRustCodeThatPanicsIsRefused(t *testing.T) {
	for code, rule := range map[string]string{
		"let a = b.unwrap();":              "RUST_NO_UNWRAP",
		"let a = b\n  .\n  unwrap ( );":    "RUST_NO_UNWRAP",
		"x.map(Option::unwrap)":            "RUST_NO_UNWRAP",
		"b.expect(\"x\")":                  "RUST_NO_EXPECT",
		"panic!(\"x\")":                    "RUST_NO_PANIC",
		"todo!()":                          "RUST_NO_TODO",
		"unimplemented!()":                 "RUST_NO_UNIMPLEMENTED",
		"unreachable!()":                   "RUST_NO_UNREACHABLE",
		"unsafe { x() }":                   "RUST_NO_UNSAFE",
		"#[allow(dead_code)]":              "RUST_NO_ALLOW",
		"#![allow(dead_code)]":             "RUST_NO_ALLOW",
		"/* a /* b */ c */ todo!()":        "RUST_NO_TODO",
		"let q = '\"'; todo!(); // \"":     "RUST_NO_TODO",
		"let q = '\\''; todo!(); // '":     "RUST_NO_TODO",
		"fn f<'a>(x: &'a str) { todo!() }": "RUST_NO_TODO",
		"let s = r#\"a\"b\"#; todo!()":     "RUST_NO_TODO",
		"let s = br\"\\\"; todo!()":        "RUST_NO_TODO",
		"let s = \"\\\\\"; todo!()":        "RUST_NO_TODO",
		"#[cfg(test)]\nmod t { fn a() { b.unwrap() } }\nfn f() { todo!() }": "RUST_NO_TODO",
		"#[cfg(test)] use x;\nfn f() { todo!() }":                           "RUST_NO_TODO",
		"#[cfg(not(test))]\nfn f() { todo!() }":                             "RUST_NO_TODO",
		"let r = 1; let s = for_r\"x\"; todo!()":                            "RUST_NO_TODO",
	} {
		e := check(t, policy.Default(), "src/a.rs", "", code)
		if e == nil || e.Code() != kaiza.RustPolicyViolation || !strings.Contains(e.Details().String(), `"rule":"`+rule+`"`) || e.Suggestion() == "" {
			t.Errorf("%q: %v", code, e)
		}
		if e := check(t, policy.Default(), "src/a.txt", "", code); e != nil {
			t.Errorf("%q in a text: %v", code, e)
		}
	}
}

func TestCommentsAndTestsInRustAreAllowed(t *testing.T) {
	for _, code := range []string{
		"// a.unwrap()\n/* todo!() */ let a = \"unsafe \\\" todo!()\";", "let s = r##\"x\"# todo!() \"##;", "let s = b\"todo!()\";",
		"b.unwrap_or(1); b.unwrap_or_else(f); b.expect_err(1)", "let unsafe_x = 1; my_panic!();", "#[cfg(test)]\nmod tests {\n fn a() { if x { b.unwrap(); } todo!() }\n}\n",
		"#[cfg(all(test, unix))] mod t { fn a() { todo!() } }", "#[test]\nfn a() { x.unwrap() }", "#![cfg(test)]\nfn a() { x.unwrap() }", "let c = '\"'; let d = \"todo!()\";",
	} {
		if e := check(t, policy.Default(), "src/a.rs", "", code); e != nil {
			t.Errorf("%q: %v", code, e)
		}
	}
	for _, path := range []string{"tests/a.rs", "crates/x/tests/b/c.rs"} {
		if e := check(t, policy.Default(), path, "", "a.unwrap()"); e != nil {
			t.Errorf("%s: %v", path, e)
		}
	}
	if e := check(t, policy.Default(), "a.rs", "", "a.unwrap()"); e == nil {
		t.Error("a file at the root is not judged")
	}
}

func TestOnlyAddedLinesAreChecked(t *testing.T) {
	old := "fn a() { x.unwrap() }\nfn b() {}\n"
	for name, c := range map[string]struct {
		after string
		bad   bool
	}{
		"left":           {old + "fn c() {}\n", false},
		"moved":          {"fn b() {}\nfn a() { x.unwrap() }\n", false},
		"indented":       {"mod m {\n    fn a() { x.unwrap() }\n}\n", false},
		"doubled":        {old + "fn a() { x.unwrap() }\n", true},
		"another":        {old + "fn c() { y.unwrap() }\n", true},
		"out of comment": {"fn b() {}\nfn z() { panic!() }\n", true},
	} {
		if e := check(t, policy.Default(), "a.rs", old+"/*\nfn z() { panic!() }\n*/", c.after); (e != nil) != c.bad {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestSecretsAreRefusedAndNotRepeated(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("a1B2", 9)
	for text, line := range map[string]string{"a\nkey = " + secret + "\n": `"line":2`, "a\n-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END " + "PRIVATE KEY-----\n": `"line":3`} {
		e := check(t, policy.Default(), "a.py", "a\n", text)
		if e == nil || e.Code() != kaiza.PolicyViolation || !strings.Contains(e.Details().String(), `"rule":"NO_SECRETS"`) || !strings.Contains(e.Details().String(), line) {
			t.Fatalf("%v %v", e, e.Details())
		}
		if out, _ := e.MarshalJSON(); strings.Contains(string(out), secret) || strings.Contains(string(out), "MIIE") {
			t.Errorf("%s", out)
		}
		if e := check(t, policy.Default(), "a.py", text, text+"b\n"); e != nil {
			t.Errorf("what was there is held against the change: %v", e)
		}
	}
	if e := check(t, policy.Default(), "a.py", "", "password = os.environ['PASSWORD'] # /home/ann/x [redacted:key]\n"); e != nil {
		t.Errorf("%v", e)
	}
}

func TestConflictMarksAreRefused(t *testing.T) {
	e := check(t, policy.Default(), "a.md", "", "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n")
	if e == nil || !strings.Contains(e.Details().String(), `"count":2`) {
		t.Errorf("%v", e)
	}
	if e := check(t, policy.Default(), "a.md", "", "Title\n=======\n<<<<<<<<<<<<\n"); e != nil {
		t.Errorf("%v", e)
	}
}

const whole = `rules:
  - id: NO_PRINT
    pattern: '\bprint\('
    files: ["src/**/*.py"]
    exempt: ["src/gen/**"]
    message: Printing is for commands.
    suggestion: Use the logger.
  - id: NO_CLONE
    pattern: 'clone\(\)$'
    files: ["**/*.rs"]
builtin: [secrets]
preflight:
  - name: tests
    run: [go, test, ./...]
    files: ["**/*.go"]
    timeout: 90s
    memory: 512MiB
    env: [GOFLAGS]
  - {name: always, run: ["true"]}
`

func TestPolicyFileRules(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	e := check(t, p, "src/a/b.py", "", "x\nprint(1)\nprint(2)\n")
	if e == nil || e.Suggestion() != "Use the logger." || e.Details().String() !=
		`{"rule":"NO_PRINT","file":"src/a/b.py","line":2,"count":2,"issues":[{"rule":"NO_PRINT","line":2,"message":"Printing is for commands."},{"rule":"NO_PRINT","line":3}]}` {
		t.Errorf("%v %v", e, e.Details())
	}
	for _, path := range []string{"src/gen/b.py", "lib/b.py", "src/b.txt"} {
		if e := check(t, p, path, "", "print(1)\n"); e != nil {
			t.Errorf("%s: %v", path, e)
		}
	}
	if e := check(t, p, "a.rs", "", "a.unwrap(); b.clone()\r\n"); e == nil || !strings.Contains(e.Details().String(), `"count":1`) {
		t.Errorf("%v", e)
	}
}

func TestCommandsFollowTheFilesThatCallForThem(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Preflight("a.txt", "x/y.go"); len(got) != 2 || got[0].Name != "tests" || got[0].Timeout != 90*time.Second || got[0].Memory != 512<<20 || got[0].Env[0] != "GOFLAGS" {
		t.Errorf("%+v", got)
	}
	if got := p.Preflight("a.txt"); len(got) != 1 || got[0].Name != "always" {
		t.Errorf("%+v", got)
	}
	if len(p.Preflight()) != 0 || len(p.Commands()) != 2 || len(policy.Default().Commands()) != 0 {
		t.Error("wrong commands")
	}
}

func TestInvalidPolicyFileNamesThePosition(t *testing.T) {
	for text, want := range map[string]string{
		"rulez: []\n":                                       "p.yaml:1:1: unknown key \"rulez\"\n  1 | rulez: []\n    | ^\n  hint: did you mean \"rules\"?",
		"rules:\n  - id: A\n    patern: x\n":                "p.yaml:3:5: unknown key \"patern\"\n  3 |     patern: x\n    |     ^\n  hint: did you mean \"pattern\"?",
		"rules:\n  - id: A\n    pattern: '('\n":             `p.yaml:3:14: the rule A has no pattern`,
		"rules:\n  - id: A\n":                               `the rule A has no pattern`,
		"rules:\n  - id: a b\n    pattern: x\n":             `p.yaml:2:9: the id of the rule is missing`,
		"rules: [{id: A, pattern: x}, {id: A, pattern: y}]": `duplicate id A`,
		"rules: [{id: A, pattern: x, files: ['[']}]":        `p.yaml:1:37: "[" is not a file name pattern`,
		"builtin: [secret]\n":                               `p.yaml:1:11: unknown built-in group "secret"`,
		"preflight: [{name: a}]\n":                          `p.yaml:1:13: a command has a name`,
		"preflight: [{name: a, run: [x], timeout: 60}]\n":   `p.yaml:1:42: "60" is not a time limit`,
		"preflight: [{name: a, run: [x], memory: 1KiB}]\n":  `p.yaml:1:41: "1KiB" is not a memory limit`,
		"rules: {a: b}\n":                                   `p.yaml:1:`,
		"- a\n":                                             `p.yaml:1:`,
		"rules: []\nrules: []\n":                            `p.yaml:2:1: duplicate key "rules"`,
		"a: [\n":                                            `p.yaml:1:`,
		"rules: []\n---\nrules: []\n":                       `p.yaml:3:6: the file has more than one document`,
		"preflight: [{name: a, run: [x], memory: 512}]\n":   `p.yaml:1:41: "512" is not a memory limit`,
		strings.Repeat("[", 1000):                           `brackets`,
		"\x00":                                              `not text`,
		strings.Repeat("# x\n", 1<<17):                      `larger`,
	} {
		p, err := policy.Load("p.yaml", []byte(text))
		if err == nil || p != nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%.70q: %v, wanted %s", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "builtin: [secrets, conflict-markers, rust]\n"} {
		p, err := policy.Load("p.yaml", []byte(text))
		if err != nil || check(t, p, "a.rs", "", "todo!()") == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("a"), []byte("#[cfg(test)] mod a { x.unwrap() } r#\"todo!()\"# 'a' '\\'' /* /* */ unsafe"))
	f.Add([]byte("r"), []byte("br##\"'"))
	f.Fuzz(func(_ *testing.T, before, after []byte) {
		_ = policy.Default().Check("a.rs", before, after)
	})
}
