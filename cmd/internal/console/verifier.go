package console

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor/ledger/verify"
)

// The states of a verification.
const (
	stateNone    = "notVerified"
	stateRunning = "running"
	stateOK      = "ok"
	stateDamaged = "damaged"
	stateFailed  = "failed" // it could not be done
)

// verification is the last verification of the ledger, in the API and on its page.
type verification struct {
	State  string         `json:"state"` // notVerified, running, ok, damaged or failed
	Began  time.Time      `json:"began,omitzero"`
	Ended  time.Time      `json:"ended,omitzero"`
	Bytes  int64          `json:"bytes"` // read so far
	Size   int64          `json:"size"`  // bytes of the folder when it began
	Chain  int            `json:"chain,omitempty"`
	Chains int            `json:"chains,omitempty"`
	Error  string         `json:"error,omitempty"`
	Report *verify.Report `json:"report,omitempty"`
}

func (v *verification) refreshes() bool { return v.State == stateRunning }

// Percent is how much was read.
func (v *verification) Percent() int {
	if v.Size <= 0 {
		return 0
	}
	return int(min(v.Bytes*100/v.Size, 100))
}

// recordState says in a word whether the record is whole. Each page has it.
type recordState struct {
	State string
	At    time.Time
}

// verifier runs one verification at a time.
type verifier struct {
	mu   sync.Mutex
	last verification
}

func (v *verifier) get() verification {
	v.mu.Lock()
	defer v.mu.Unlock()
	got := v.last
	if got.State == "" {
		got.State = stateNone
	}
	return got
}

func (v *verifier) record() recordState {
	got := v.get()
	return recordState{got.State, got.Ended}
}

// Verify begins a verification in the background, unless one runs already.
func (s *Server) Verify() {
	v := &s.verifier
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last.State == stateRunning || s.ended.Err() != nil {
		return
	}
	v.last = verification{State: stateRunning, Began: s.o.Now(), Size: folderSize(s.o.Dir)}
	s.jobs.Go(func() { s.runVerification(s.ended) })
}

func (s *Server) runVerification(ctx context.Context) {
	v := &s.verifier
	progress := func(p verify.Progress) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.last.Bytes, v.last.Chain, v.last.Chains = p.Bytes, p.Chain, p.Chains
	}
	var report verify.Report
	var err error
	if s.o.Failures.HasNodes() {
		report, err = verifyNodes(ctx, s.o.Dir, progress)
	} else {
		report, err = verify.Dir(ctx, s.o.Dir, verify.Options{OwnWitnessCopies: s.o.WitnessCopies, Progress: progress})
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last.Ended = s.o.Now()
	switch {
	case err != nil:
		v.last.State, v.last.Error = stateFailed, err.Error()
		return
	case report.OK:
		v.last.State = stateOK
	default:
		v.last.State = stateDamaged
	}
	v.last.Report, v.last.Bytes = &report, report.Bytes
}

// folderSize returns the size of the files that a verification reads, about.
func folderSize(dir string) (size int64) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(_ string, d fs.DirEntry, err error) error { // what cannot be read is not counted
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// maxChains is the number of chains that the page shows; damaged ones come first.
const maxChains = 100

// verification returns the last verification.
func (s *Server) verification(*http.Request) (*verification, error) {
	v := s.verifier.get()
	return &v, nil
}

func (*verification) title() string { return "Record" }

// startVerification begins a verification.
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
