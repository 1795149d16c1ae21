package kaiza_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/planted"
)

// secretTrial plants secrets in calls and collects the answers of failed calls.
type secretTrial struct {
	*stdio
	random *rand.Rand
	sweep  *planted.Sweep
	told   strings.Builder
	texts  []string // as planted
}

// plant returns a new random secret.
func (w *secretTrial) plant(way string, kind int) string {
	maker := planted.Makers[kind%len(planted.Makers)]
	text := maker.Make(w.random)
	w.sweep.Add(planted.Secret{Way: way, Kind: maker.Kind, Text: text})
	w.texts = append(w.texts, text)
	return text
}

// tell calls a tool with a secret. It collects failures; a success may repeat its arguments.
func (w *secretTrial) tell(tool string, arguments any) {
	w.t.Helper()
	a := w.call(tool, arguments)
	if a.code() != "" {
		w.told.Write(a.m.Bytes())
		w.told.WriteByte('\n')
	}
	if a.code() == "SESSION_LOCKED" {
		w.t.Fatalf("%s is locked out and proves nothing", tool)
	}
}

// ways lists the parts of a call in which a client can put a secret.
var ways = map[string]func(w *secretTrial, secret, plan string){
	"path": func(w *secretTrial, secret, _ string) { w.tell("read_file", args{"path": "src/" + secret}) },
	"path above": func(w *secretTrial, secret, _ string) {
		w.tell("read_file", args{"path": "../" + secret})
		w.tell("list_dir", args{"path": "/etc/" + secret})
	},
	"path that is written": func(w *secretTrial, secret, plan string) {
		w.tell("write_file", args{"path": "src/" + secret + "/x.txt", "content": "x", "plan_hash": plan, "make_dirs": true})
		w.tell("write_file", args{"path": "src/" + secret + "/x.txt", "content": "x", "plan_hash": plan})
	},
	"content": func(w *secretTrial, secret, plan string) {
		w.tell("write_file", args{"path": "src/" + hashOf(secret), "content": "key = " + secret + "\n", "plan_hash": plan})
		w.tell("write_file", args{"path": "src/" + hashOf(secret), "content": "key = " + secret + "\n", "plan_hash": plan})
	},
	"patch": func(w *secretTrial, secret, plan string) {
		w.tell("apply_patch", args{"patch": secret, "plan_hash": plan})
		w.tell("apply_patch", args{"patch": "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1 +1 @@\n-" + secret + "\n+x\n", "plan_hash": plan})
		w.tell("apply_patch", args{"patch": "--- a/src/" + secret + "\n+++ b/src/" + secret + "\n@@ -1 +1 @@\n-x\n+y\n", "plan_hash": plan})
	},
	"plan text": func(w *secretTrial, secret, _ string) {
		w.tell("lint_plan", args{"content": planText("src/**") + secret})
		w.tell("lint_plan", args{"content": "---\n" + secret + ": 1\n---\n"})
		w.tell("submit_plan", args{"content": planText("src/**") + secret})
	},
	"phase_id": func(w *secretTrial, secret, _ string) { w.tell("read_file", args{"path": "none", "phase_id": secret}) },
	"pair in an identifier": func(w *secretTrial, secret, _ string) {
		pair := "password=" + secret
		w.tell("read_file", args{"path": "none", "phase_id": pair})
		w.tell("read_plan", args{"plan_hash": pair})
		w.tell(pair, args{})
	},
	"role": func(w *secretTrial, secret, _ string) { w.tell("read_file", args{"path": "none", "role": secret}) },
	"session_id": func(w *secretTrial, secret, _ string) {
		w.tell("read_file", args{"path": "none", "session_id": secret})
	},
	"unknown key":   func(w *secretTrial, secret, _ string) { w.tell("read_file", args{"path": "none", secret: 1}) },
	"unknown value": func(w *secretTrial, secret, _ string) { w.tell("read_file", args{"path": "none", "token": secret}) },
	"deep value": func(w *secretTrial, secret, _ string) {
		w.tell("read_file", args{"path": args{"a": []any{args{secret: secret}}}})
	},
	"tool name": func(w *secretTrial, secret, _ string) { w.tell(secret, args{}) },
	"plan_hash": func(w *secretTrial, secret, _ string) {
		w.tell("write_file", args{"path": "src/n.txt", "content": "x", "plan_hash": secret})
	},
	"previous_hash": func(w *secretTrial, secret, plan string) {
		w.tell("write_file", args{"path": "src/hello.txt", "content": "x", "plan_hash": plan, "previous_hash": secret})
	},
	"filter of the trail": func(w *secretTrial, secret, _ string) {
		w.tell("read_audit_log", args{"tool": secret, "code": secret})
	},
	"workspace_root": func(w *secretTrial, secret, _ string) {
		w.tell("begin_session", args{"workspace_root": "/" + secret, "role": "WINDSURF"})
	},
	"method": func(w *secretTrial, secret, _ string) {
		m := w.ask(secret, `{"a":"`+secret+`"}`)
		w.told.Write(m.Bytes())
	},
}

// perWay is the number of secrets per way. Together the ways cover all kinds of secrets.
const perWay = 4

// TestK21NoSecretGetsIntoTrailEnvelopeOrLog plants secrets of every kind in every part of a call.
func TestK21NoSecretGetsIntoTrailEnvelopeOrLog(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.env = []string{"DEBUG_STACK=true"}
	w := &secretTrial{stdio: p.executor("--policy", p.policyFile("builtin: []\n"), "--json-logs"), random: rand.New(rand.NewPCG(1, 2)), sweep: planted.NewSweep()}
	for i, way := range slices.Sorted(maps.Keys(ways)) {
		for turn := range perWay { // different kinds for each way, so that all ways together cover all kinds
			ways[way](w, w.plant(way, i*perWay+turn), plan)
		}
	}
	trailed := w.call("read_audit_log", args{"last": 500})
	trailed.fine()
	w.End()
	if w.told.Len() < 10_000 {
		t.Errorf("only %d bytes of failures were seen", w.told.Len())
	}
	trail, err := planted.Files(p.ledgerDir())
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{
		"trail": trail, "envelopes": w.told.String(), "log": w.Stderr.String(), "answer of read_audit_log": string(trailed.m.Bytes()),
	} {
		for _, leak := range w.sweep.Over(where, text) {
			t.Error(leak)
		}
	}
	p.verify()
}

// TestK21FilesAreWrittenUnredacted writes secrets to a file: the trail does not contain them, and the file
// is unchanged.
func TestK21FilesAreWrittenUnredacted(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	w := &secretTrial{stdio: p.executor("--policy", p.policyFile("builtin: []\n")), random: rand.New(rand.NewPCG(3, 4)), sweep: planted.NewSweep()}
	var content strings.Builder
	for i := range planted.Makers {
		fmt.Fprintf(&content, "password_%d = %q\n", i, w.plant("content", i))
	}
	a := w.call("write_file", args{"path": "src/keys.txt", "content": content.String(), "plan_hash": plan})
	a.fine()
	if got, _ := p.read("src/keys.txt"); got != content.String() {
		t.Error("the file does not hold what was given")
	}
	if got := a.text("structuredContent", "files", 0, "after"); got != hashOf(content.String()) {
		t.Errorf("the hash that was told is %q", got)
	}
	if read := w.call("read_file", args{"path": "src/keys.txt"}); read.text("content", 0, "text") != content.String() {
		t.Error("it is not read as it was written")
	}
	w.End()
	trail, err := planted.Files(p.ledgerDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range append(w.sweep.Over("trail", trail), w.sweep.Over("log", w.Stderr.String())...) {
		t.Error(leak)
	}
}
