package planted_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/planted"
)

// TestSweepFindsPieces checks that a piece of each kind of secret is found in a text.
func TestSweepFindsPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sweep := planted.NewSweep()
	var secrets []string
	for _, maker := range planted.Makers {
		secret := maker.Make(r)
		secrets = append(secrets, secret)
		sweep.Add(planted.Secret{Way: secret, Kind: maker.Kind, Text: secret})
	}
	for _, secret := range secrets {
		for _, piece := range []string{secret[:12], secret[len(secret)-12:]} {
			if leaks := sweep.Over("the text", "some words "+piece+piece); len(leaks) == 0 || !strings.Contains(leaks[0], "the text has") {
				t.Errorf("%q of %q is not found: %q", piece, secret, leaks)
			}
		}
	}
	if leaks := sweep.Over("the text", "words that hold nothing, "+secrets[0][:11]); len(leaks) > 0 {
		t.Errorf("found %q", leaks)
	}
}
