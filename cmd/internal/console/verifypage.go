package console

import (
	"net/http"
	"slices"

	"github.com/candor-mcp/candor/ledger/verify"
)

// maxChains is the number of chains that the page shows; damaged ones come first.
const maxChains = 100

func (s *Server) verifyPage(w http.ResponseWriter, r *http.Request) {
	v := s.verifier.get()
	s.render(w, r, http.StatusOK, "verify", "Record", &v)
}

// startVerification begins a verification. It changes nothing on the disk, so it needs no token.
func (s *Server) startVerification(w http.ResponseWriter, r *http.Request) {
	s.Verify()
	http.Redirect(w, r, "/verify", http.StatusSeeOther)
}

// newestChains returns the chains to show: damaged ones, then the newest.
func newestChains(all []verify.Chain) []verify.Chain {
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b verify.Chain) int {
		if (a.Damage != nil) != (b.Damage != nil) {
			if a.Damage != nil {
				return -1
			}
			return 1
		}
		return b.End.Compare(a.End)
	})
	return list[:min(len(list), maxChains)]
}
