package view_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
)

func checkpoints(t *testing.T) *view.Checkpoints {
	t.Helper()
	dir := t.TempDir()
	key, err := view.CreateOperatorKey(filepath.Join(dir, "state", "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	return &view.Checkpoints{Name: filepath.Join(dir, "outside", "fleet"), Key: key}
}

func appendState(t *testing.T, file *view.Checkpoints, s *view.State) {
	t.Helper()
	if _, err := file.Append(context.Background(), s); err != nil {
		t.Fatal(err)
	}
}

func TestCheckpointIsReadAsItWasWritten(t *testing.T) {
	_, state := honestFleet(t)
	file := checkpoints(t)
	if got, err := file.Read(); got != nil || err != nil {
		t.Errorf("a file that does not exist: %v, %v", got, err)
	}
	appendState(t, file, state)
	appendState(t, file, state)
	got, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Heads, state.Heads) || !reflect.DeepEqual(got.Keys, state.Keys) {
		t.Error("the state differs")
	}
	if runtime.GOOS != "windows" {
		for _, name := range []string{file.Name, file.Key.Name} {
			if about, err := os.Stat(name); err != nil || about.Mode().Perm() != 0o600 {
				t.Errorf("%s: mode %v, %v; want 0600", name, about.Mode(), err)
			}
		}
	}
}

func TestChangedCheckpointIsRefused(t *testing.T) {
	_, state := honestFleet(t)
	file := checkpoints(t)
	appendState(t, file, state)
	text, err := os.ReadFile(file.Name)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(string) string{
		"a head removed": func(s string) string { return s[:strings.Index(s, "head ")] + s[strings.Index(s, "head node-1"):] },
		"a size changed": func(s string) string { return strings.Replace(s, "head node-0", "head node-9", 1) },
		"the time":       func(s string) string { return strings.Replace(s, "time 2", "time 3", 1) },
		"no signature":   func(s string) string { return strings.Replace(s, "— ", "- ", 1) },
		"a key added":    func(s string) string { return strings.Replace(s, "\n---", "\nkey node-0 x\n---", 1) },
	}
	for name, change := range changes {
		if err := os.WriteFile(file.Name, []byte(change(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Read(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	other := checkpoints(t)
	other.Name = file.Name
	if err := os.WriteFile(file.Name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Read(); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("signed with another key: %v", err)
	}
}

func TestHalfACheckpointIsReplaced(t *testing.T) {
	_, state := honestFleet(t)
	file := checkpoints(t)
	appendState(t, file, state)
	whole, err := os.ReadFile(file.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file.Name, append(whole, whole[:len(whole)/2]...), 0o600); err != nil { // a crash
		t.Fatal(err)
	}
	if got, err := file.Read(); err != nil || len(got.Heads) != len(state.Heads) {
		t.Fatalf("got %v", err)
	}
	appendState(t, file, state)
	if got, err := os.ReadFile(file.Name); err != nil || len(got) != 2*len(whole) {
		t.Errorf("%d bytes, %v; want two checkpoints of %d", len(got), err, len(whole))
	}
}

func TestLaterCheckpointsKeepTheLongestHeads(t *testing.T) {
	_, state := honestFleet(t)
	file := checkpoints(t)
	appendState(t, file, state)
	shorter := &view.State{Time: time.Now().UTC(), Heads: map[fleet.Chain]view.Head{}} // of a store that was set back
	for chain, head := range state.Heads {
		head.Size--
		shorter.Heads[chain] = head
	}
	appendState(t, file, shorter)
	got, err := file.Read()
	if err != nil || !reflect.DeepEqual(got.Heads, state.Heads) {
		t.Errorf("the heads of the first checkpoint are lost: %v", err)
	}
}

func TestPublicKeyVerifiesAndDoesNotSign(t *testing.T) {
	_, state := honestFleet(t)
	file := checkpoints(t)
	appendState(t, file, state)
	public, err := view.ReadOperatorKey(file.Key.Name + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if public.Public != file.Key.Public {
		t.Error("the public keys differ")
	}
	file.Key = public
	if _, err := file.Read(); err != nil {
		t.Error(err)
	}
	if _, err := file.Append(context.Background(), state); err == nil {
		t.Error("signed with a public key")
	}
	bad := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(bad, []byte("PRIVATE+KEY+x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := view.CreateOperatorKey(bad); err == nil || strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("got %v", err)
	}
}
