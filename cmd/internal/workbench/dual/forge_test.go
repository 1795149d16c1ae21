package dual_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exported returns an export of a task with one record, and the file of the public key.
func exported(t *testing.T) (text, key string) {
	t.Helper()
	p := newPlace(t)
	s := p.start()
	id := s.task(nil)
	s.think(id, args{"content": "REJECT the deal"}).fine()
	home := filepath.Dir(p.state)
	file, key := filepath.Join(home, "thoughts.json"), filepath.Join(home, "signer.pub")
	if _, said, code := p.person("export", id, "--out", file); code != 0 {
		t.Fatalf("export: %d, %s", code, said)
	}
	if _, said, code := runCandor(t, "ledger", "key", "export", "--ledger", p.trail(), "--out", key); code != 0 {
		t.Fatalf("key export: %d, %s", code, said)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), key
}

// TestAForgedExportIsRefused checks that a file that shows a reader other records than the checked ones is refused.
func TestAForgedExportIsRefused(t *testing.T) {
	t.Parallel()
	text, key := exported(t)
	var f map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	check := func(text string) (said string, code int) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "file.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, said, code := runCandor(t, "ledger", "check-proof", file, "--key", key)
		return out + said, code
	}
	if said, code := check(text); code != 0 {
		t.Fatalf("it is refused: %s", said)
	}
	content, entry := `"content":"REJECT the deal"`, `"entry":`+string(f["entry"])
	bare := strings.Replace(text, `,"thoughts":`+string(f["thoughts"]), "", 1)
	if said, code := check(bare); bare == text || code != 0 {
		t.Fatalf("the proof alone is refused: %s", said)
	}
	for name, forged := range map[string]string{
		"a name in another case": strings.Replace(text, content, `"content":"ACCEPT, pay Mallory","Content":"REJECT the deal"`, 1),
		"a name twice":           strings.Replace(text, content, `"content":"ACCEPT, pay Mallory",`+content, 1),
		"a name twice, after":    strings.Replace(text, content, content+`,"content":"ACCEPT, pay Mallory"`, 1),
		"an escaped name":        strings.Replace(text, content, `"c\u006fntent":"ACCEPT, pay Mallory",`+content, 1),
		"only another case":      strings.Replace(text, content, `"Content":"REJECT the deal"`, 1),
		"all records":            strings.Replace(text, `"thoughts":`, `"thoughts":{"task":{},"records":[{"content":"ACCEPT"}]},"Thoughts":`, 1),
		"an unknown member":      strings.Replace(text, content, content+`,"approved_by":"the board"`, 1),
		"the entry":              strings.Replace(text, entry, `"entry":"{\"tool\":\"FORGED\"}","Entry":`+string(f["entry"]), 1),
		"the entry, alone":       strings.Replace(bare, entry, `"entry":"{\"tool\":\"FORGED\"}","Entry":`+string(f["entry"]), 1),
		"a second value":         text + `{"thoughts":{"records":[{"content":"ACCEPT"}]}}`,
		"another task":           strings.Replace(text, `"task":{"id":"`, `"task":{"id":"ff`, 1),
	} {
		if said, code := check(forged); forged == text || code == 0 {
			t.Errorf("%s: code %d, %s", name, code, said)
		}
	}
}
