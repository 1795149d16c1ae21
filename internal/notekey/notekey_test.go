package notekey

import (
	"crypto/rand"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

func TestVerifierOfSigner(t *testing.T) {
	secret, public, err := note.GenerateKey(rand.Reader, "a")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Verifier(secret); err != nil || got != public {
		t.Errorf("%s, %v, want %s", got, err, public)
	}
	for _, bad := range []string{"", "PRIVATE+KEY+a+b", "PRIVATE+KEY+a+b+c", "PRIVATE+KEY+a+b+AAAA"} {
		if _, err := Verifier(bad); err == nil {
			t.Errorf("%q was taken for a key", bad)
		}
	}
}
