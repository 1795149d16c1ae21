package ledger

import (
	"os"
	"path/filepath"
	"testing"
)

// closedLedger writes a ledger of one closed chain with a second place beside it.
func closedLedger(t *testing.T) (dir, second, chain string) {
	t.Helper()
	base := t.TempDir()
	dir, second = filepath.Join(base, "ledger"), filepath.Join(base, "second")
	l := openTest(t, dir, Options{SecondPlace: second})
	appendN(t, l, 5)
	closeTest(t, l)
	return dir, second, chainsOf(t, dir)[0]
}

func TestAFileOrLinkInPlaceOfAChain(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"link": func(path string) error { return os.Symlink(".", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, second, chain := closedLedger(t)
			path := filepath.Join(dir, chain)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Skip(err)
			}
			r, err := Verify(dir, VerifyOptions{Checkpoints: []string{second}})
			if err != nil || r.OK || r.Harms[0].Kind != HarmMissingChain {
				t.Fatalf("%v, %+v", err, r)
			}
		})
	}
}

func TestVerifyWithoutALedger(t *testing.T) {
	if r, err := Verify(t.TempDir(), VerifyOptions{}); err == nil {
		t.Errorf("an empty folder: %+v", r)
	}
	dir, second, _ := closedLedger(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(dir, VerifyOptions{Checkpoints: []string{second}})
	if err != nil || r.OK || r.Harms[0].Kind != HarmMissingChain {
		t.Errorf("a wiped folder: %v, %+v", err, r)
	}
	l := openTest(t, dir, Options{SecondPlace: second})
	appendN(t, l, 1)
	closeTest(t, l)
	r, err = Verify(dir, VerifyOptions{Checkpoints: []string{second}})
	if err != nil || len(r.Foreign) != 1 || r.Foreign[0].Chains != 1 {
		t.Errorf("a wiped folder with new keys: %v, %+v", err, r)
	}
}

func TestASpoiledSecondPlace(t *testing.T) {
	for name, data := range map[string]string{"emptied": "", "garbage": "garbage\n"} {
		dir, second, _ := closedLedger(t)
		r, err := Verify(dir, VerifyOptions{})
		if err != nil || !r.OK || r.Chains[0].Unkept != 0 {
			t.Fatalf("untouched: %v, %+v", err, r)
		}
		if err := os.WriteFile(second, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err = Verify(dir, VerifyOptions{})
		if err != nil || r.OK && r.Chains[0].Unkept == 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}
