package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	"github.com/candor-mcp/candor/codes/kaiza"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	here  = plan.RootDigest("/srv/project")
	there = plan.RootDigest("/srv/other")
)

// state opens the approvals in a new folder and returns them with the name of the folder.
func state(t *testing.T) (*plan.Approvals, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	a, err := plan.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return a, dir
}

func record(hash string) plan.Approval {
	return plan.Approval{Version: 1, Plan: hash, Root: here, By: "ann", At: noon, Note: "looks good"}
}

func TestApprovalIsOfOnePlanInOneWorkspace(t *testing.T) {
	a, dir := state(t)
	hash, other := plan.Hash([]byte("a")), plan.Hash([]byte("b"))
	if err := a.Approve(record(hash)); err != nil {
		t.Fatal(err)
	}
	got, err := a.Lookup(here, hash)
	if err != nil || !cmp.Equal(got, record(hash)) {
		t.Errorf("looked up %+v, %v", got, err)
	}
	for _, c := range [][2]string{{there, hash}, {here, other}, {"", hash}, {here, ""}, {"../" + here, hash}, {here, "../" + hash}} {
		_, err := a.Lookup(c[0], c[1])
		if e := errorOf(t, err, kaiza.PlanNotApproved); detail[string](t, e, "reason") != "no_record" {
			t.Errorf("%v: %s", c, e.Details())
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "approvals", here, hash+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(text, &keys); err != nil || len(keys) != 6 || keys["approved_by"] != "ann" || keys["root"] != here {
		t.Errorf("the record is %s", text)
	}
}

func TestRevokedApprovalIsGone(t *testing.T) {
	a, _ := state(t)
	hash := plan.Hash([]byte("a"))
	if err := a.Approve(record(hash)); err != nil {
		t.Fatal(err)
	}
	if err := a.Revoke(here, hash); err != nil || a.Has(here, hash) {
		t.Fatal(err)
	}
	_, err := a.Lookup(here, hash)
	refused(t, err, kaiza.PlanNotApproved)
	if err := a.Revoke(here, hash); err != nil {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestIncompleteApprovalIsNotRecorded(t *testing.T) {
	a, _ := state(t)
	for name, spoil := range map[string]func(*plan.Approval){
		"nobody": func(r *plan.Approval) { r.By = " " }, "escape": func(r *plan.Approval) { r.By = "ann\x1b[2J" }, "never": func(r *plan.Approval) { r.At = time.Time{} },
		"no plan": func(r *plan.Approval) { r.Plan = "abc" }, "no root": func(r *plan.Approval) { r.Root = "../x" },
		"long note": func(r *plan.Approval) { r.Note = strings.Repeat("x", 2000) }, "long name": func(r *plan.Approval) { r.By = strings.Repeat("x", 200) },
	} {
		r := record(plan.Hash([]byte(name)))
		spoil(&r)
		refused(t, a.Approve(r), kaiza.InvalidInputValue)
	}
	if list, err := a.List(here); len(list) > 0 || err != nil {
		t.Errorf("recorded: %v, %v", list, err)
	}
}

func TestDamagedRecordApprovesNothingAndSaysSo(t *testing.T) {
	hash := plan.Hash([]byte("a"))
	sound, err := json.Marshal(record(hash))
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, with string) []byte { return []byte(strings.Replace(string(sound), old, with, 1)) }
	for name, text := range map[string][]byte{
		"empty": {}, "torn": sound[:len(sound)/2], "null": []byte("null"), "list": []byte("[]"), "version": swap(`"version":1`, `"version":2`),
		"plan": swap(hash, plan.Hash([]byte("b"))), "root": swap(here, there), "nobody": swap(`"ann"`, `""`), "unknown key": swap(`"note"`, `"nota"`),
		"when": swap("2026-03-01T12", "0001-01-01T00"), "large": append(sound, strings.Repeat(" ", 20<<10)...),
	} {
		t.Run(name, func(t *testing.T) {
			damaged(t, hash, "", func(file string) error { return os.WriteFile(file, text, 0o600) })
		})
	}
	t.Run("folder", func(t *testing.T) {
		damaged(t, hash, "not a regular file", func(file string) error { return os.Mkdir(file, 0o700) })
	})
	if runtime.GOOS == "windows" { // Windows has no modes, and links need a privilege
		return
	}
	t.Run("shared", func(t *testing.T) {
		damaged(t, hash, "others may write to it", func(file string) error {
			if err := os.WriteFile(file, sound, 0o600); err != nil {
				return err
			}
			return os.Chmod(file, 0o666)
		})
	})
	t.Run("shared folder", func(t *testing.T) {
		a, dir := state(t)
		for _, folder := range []string{filepath.Join(dir, "approvals", here), filepath.Join(dir, "approvals")} {
			if err := a.Approve(record(hash)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			_, err := a.Lookup(here, hash)
			if e := errorOf(t, err, kaiza.PlanNotApproved); !strings.Contains(e.Message(), "others may write") {
				t.Errorf("told as %v", e)
			}
			if err := os.Chmod(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("link", func(t *testing.T) {
		damaged(t, hash, "not a regular file", func(file string) error {
			aside := filepath.Join(filepath.Dir(file), "aside")
			if err := os.WriteFile(aside, sound, 0o600); err != nil {
				return err
			}
			return os.Symlink("aside", file)
		})
	})
}

// damaged approves a plan and lets spoil replace the record. It checks that the record is refused in these words and
// listed with a problem, and that a new approval replaces it.
func damaged(t *testing.T, hash, words string, spoil func(file string) error) {
	t.Helper()
	a, dir := state(t)
	if err := a.Approve(record(hash)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "approvals", here, hash+".json")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := spoil(file); err != nil {
		t.Fatal(err)
	}
	_, err := a.Lookup(here, hash)
	e := errorOf(t, err, kaiza.PlanNotApproved)
	if detail[string](t, e, "reason") != "bad_record" || !strings.Contains(e.Message(), "damaged: ") || !strings.Contains(e.Message(), words) || strings.Contains(e.Message(), dir) {
		t.Errorf("told as %v, %s", e, e.Details())
	}
	if list, err := a.List(here); err != nil || len(list) != 1 || list[0].By != "" {
		t.Errorf("listed as %+v, %v", list, err)
	}
	if info, err := os.Lstat(file); err == nil && info.IsDir() {
		return // an approval does not replace a folder
	}
	if err := a.Approve(record(hash)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Lookup(here, hash); err != nil {
		t.Error(err)
	}
}
