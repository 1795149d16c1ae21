package browser

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/internal/scratch"
)

// maxEnded is the number of ended sessions that are remembered.
const maxEnded = 64

// errFull is the error for a launch beyond the maximum number of sessions.
var errFull = errors.New("all sessions are in use")

// pool holds the sessions of a domain.
type pool struct {
	config Config
	prefix string        // prefix of session ids
	slots  chan struct{} // one element for each session
	sweep  sync.Once     // removes leftover profiles

	mu       sync.Mutex
	sessions map[string]*session
	ended    []endedSession // oldest first
	shut     bool
}

// endedSession is a session that has ended, and the reason.
type endedSession struct{ id, reason string }

func newPool(c Config, prefix string) *pool {
	return &pool{config: c, prefix: prefix, slots: make(chan struct{}, c.MaxSessions), sessions: map[string]*session{}}
}

// launch opens a session.
func (p *pool) launch(ctx context.Context) (*session, error) {
	path, err := find(p.config.Path)
	if err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	default:
		return nil, errFull
	}
	p.sweep.Do(func() { scratch.Sweep(profileRoot(), profilePrefix) })
	if os.Getuid() == 0 {
		p.config.Logger.Warn("running Chromium without its sandbox, because this process runs as root")
	}
	s, err := open(ctx, p.prefix+strings.ToLower(rand.Text()), p.config, path)
	if err != nil {
		<-p.slots
		return nil, err
	}
	p.mu.Lock()
	shut := p.shut
	if !shut {
		p.sessions[s.id] = s
	}
	p.mu.Unlock()
	go p.keep(s)
	if shut {
		s.end("the server is closing")
		return nil, errGone
	}
	return s, nil
}

// keep waits until a session ends, because its Chromium exits or its idle time is exceeded.
func (p *pool) keep(s *session) {
	timer := time.NewTimer(p.config.Idle)
	defer timer.Stop()
	for waiting := true; waiting; {
		select {
		case <-s.browser.process.Done():
			s.end(s.died())
			waiting = false
		case <-s.closed:
			waiting = false
		case <-timer.C:
			if idle := s.idle(); idle < p.config.Idle || len(s.turn) > 0 {
				timer.Reset(max(p.config.Idle-idle, time.Second))
				continue
			}
			s.end("it was idle for too long")
			waiting = false
		}
	}
	p.mu.Lock()
	delete(p.sessions, s.id)
	if p.ended = append(p.ended, endedSession{s.id, s.over()}); len(p.ended) > maxEnded {
		p.ended = slices.Delete(p.ended, 0, len(p.ended)-maxEnded)
	}
	p.mu.Unlock()
	<-p.slots
}

// find returns a session, or the reason why there is none with this id.
func (p *pool) find(id string) (s *session, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[id]; s != nil {
		if reason := s.over(); reason != "" { // it is being closed
			return nil, reason
		}
		select {
		case <-s.browser.process.Done(): // it is about to be removed
			return nil, s.died()
		default:
			return s, ""
		}
	}
	for _, e := range p.ended {
		if e.id == id {
			return nil, e.reason
		}
	}
	return nil, ""
}

// list returns the open sessions, oldest first.
func (p *pool) list() []*session {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*session, 0, len(p.sessions))
	for _, s := range p.sessions {
		if s.usable() {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *session) int { return a.launched.Compare(b.launched) })
	return all
}

// close ends all sessions.
func (p *pool) close() {
	p.mu.Lock()
	p.shut = true
	p.mu.Unlock()
	var wait sync.WaitGroup
	for _, s := range p.list() {
		wait.Go(func() { s.end("the server is closing") })
	}
	wait.Wait()
}
