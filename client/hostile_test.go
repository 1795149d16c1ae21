package client_test

import (
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
)

// TestDecodeAcceptsNilError passes a nil *candor.Error as an error.
func TestDecodeAcceptsNilError(t *testing.T) {
	t.Parallel()
	if e := client.DecodeError((*candor.Error)(nil)); e != nil {
		t.Errorf("nil *candor.Error: %v", e)
	}
	var none error = (*candor.Error)(nil)
	suspected, _ := client.DecodeSuspected(nil, none)
	for i, e := range []*candor.Error{client.Decode(nil, none), suspected} {
		if e == nil || e.Validate() != nil || e.Retry().Retryable() {
			t.Errorf("%d: %v", i, e)
		}
	}
}
