//go:build !linux

package fakeupstream_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
)

func TestAvailableReportsTheReason(t *testing.T) {
	if err := fakeupstream.Available(); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("got %v, want a next step", err)
	}
	if _, err := fakeupstream.Start(t.Context(), fakeupstream.Options{}); err == nil {
		t.Error("an upstream that cannot work is started")
	}
}
