package kaiza

import "testing"

// TestAnotherNumberOfCodesIsAFault holds the invariant against domains that have fewer codes, or more, than the contract. No start of the
// shipped program can break it: its catalogue is built in.
func TestAnotherNumberOfCodesIsAFault(t *testing.T) {
	t.Parallel()
	for domain, sound := range map[string]bool{Domain: true, "candor": false, "workrail": false, "nowhere": false} {
		if err := codesRegistered(domain)(t.Context(), nil); (err == nil) != sound {
			t.Errorf("%s: %v", domain, err)
		}
	}
}
