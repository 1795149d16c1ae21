package checkpoint

import "testing"

// A power cut can lose the last byte of a block and leave a single zero, after which the next writer ends the line.
func TestHasLostSectorsAtEndOfBlock(t *testing.T) {
	note := "candor-ledger/x\n1\nroot\nlast\ntime\n\n— key c2lnbmF0dXJl\n"
	for text, lost := range map[string]bool{
		note: false, note + "---\x00\n": true, note + "--\x00": true, note + "\x00\x00-\n": true, note + "-\x00-\n": false, "": false, "\x00": true,
	} {
		if HasLostSectors(text) != lost {
			t.Errorf("%q: %v, want %v", text, HasLostSectors(text), lost)
		}
	}
}
