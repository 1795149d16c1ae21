package kaiza

import "testing"

// TestAnotherNumberOfCodesIsAFault checks the invariant with domains that have fewer or more codes than the contract.
// The shipped program cannot violate it, because its catalogue is built in.
func TestAnotherNumberOfCodesIsAFault(t *testing.T) {
	t.Parallel()
	for domain, sound := range map[string]bool{Domain: true, "candor": false, "workrail": false, "nowhere": false} {
		if err := codesRegistered(domain)(t.Context(), nil); (err == nil) != sound {
			t.Errorf("%s: %v", domain, err)
		}
	}
}
