package planted

import "fmt"

// Secret is a secret that was planted somewhere.
type Secret struct{ Way, Kind, Text string }

// Sweep finds pieces of many secrets in a text in one pass. They are longer than those of [Leaked], because a ledger is full of digests.
type Sweep struct {
	of    map[string]Secret
	begin []bool // by a digest of the first bytes: nearly all of a text is passed over at little cost
}

// sweepBytes is the length of a piece.
const sweepBytes = 12

// NewSweep returns a sweep that looks for nothing yet.
func NewSweep() *Sweep { return &Sweep{map[string]Secret{}, make([]bool, 1<<20)} }

// Add has it look for a secret.
func (s *Sweep) Add(secret Secret) {
	for i := 0; i+sweepBytes <= len(secret.Text); i++ {
		s.of[secret.Text[i:i+sweepBytes]] = secret
		s.begin[digest4(secret.Text[i:])] = true
	}
}

// Over returns what is left of secrets in a text that is found somewhere: a sentence for each way in which one got there.
func (s *Sweep) Over(where, text string) (leaks []string) {
	seen := map[string]bool{}
	for i := 0; i+sweepBytes <= len(text); i++ {
		if !s.begin[digest4(text[i:])] {
			continue
		}
		piece := text[i : i+sweepBytes]
		if p, ok := s.of[piece]; ok && !seen[p.Way] {
			seen[p.Way] = true
			leaks = append(leaks, fmt.Sprintf("%s (%s): %s has %q of %q: %s", p.Way, p.Kind, where, piece, p.Text, text[max(0, i-200):min(len(text), i+200)]))
		}
	}
	return leaks
}

func digest4(s string) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24) * 2654435761 >> 12
}
