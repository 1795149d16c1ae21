//go:build !linux

package fake_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/fake"
)

func TestAvailableReportsTheReason(t *testing.T) {
	if err := fake.Available(); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("got %v, want a next step", err)
	}
	if _, err := fake.Start(t.Context(), fake.Options{}); err == nil {
		t.Error("an upstream that cannot work is started")
	}
}
