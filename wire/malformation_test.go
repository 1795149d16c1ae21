package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

func TestAMalformationNeverEchoesThePeer(t *testing.T) {
	for _, tc := range flawed {
		if tc.flaw == wireflaw.TooLarge {
			continue
		}
		m := wire.Parse([]byte(strings.ReplaceAll(tc.in, "x", "SECRET")), wire.Limits{})
		if err := m.Err(); err != nil && strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v echoes its input", err)
		}
	}
	err := fmt.Errorf("reading: %w", wire.Malformation{Flaw: wireflaw.DuplicateKey, Offset: 17})
	if err.Error() != "reading: duplicate_key at byte 17: an object names a member twice" {
		t.Error(err)
	}
	for target, want := range map[wire.Malformation]bool{
		{Flaw: wireflaw.DuplicateKey}: true, {Flaw: wireflaw.DuplicateKey, Offset: 17}: true,
		{Flaw: wireflaw.DuplicateKey, Offset: 3}: false, {Flaw: wireflaw.BOM}: false,
	} {
		if errors.Is(err, target) != want {
			t.Errorf("is it %v: %v", target, !want)
		}
	}
}
