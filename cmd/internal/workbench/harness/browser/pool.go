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

	"github.com/candor-mcp/candor/cmd/internal/scratch"
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
	sessions []*session // oldest first, with the last ones that have ended
	shut     bool
}

func newPool(c Config, prefix string) *pool {
	return &pool{config: c, prefix: prefix, slots: make(chan struct{}, c.MaxSessions)}
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
	go p.keep(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		go s.end("the server is closing")
		return nil, errGone
	}
	p.sessions = append(p.sessions, s)
	ended := slices.DeleteFunc(slices.Clone(p.sessions), func(s *session) bool { return s.over() == "" })
	if extra := len(ended) - maxEnded; extra > 0 {
		p.sessions = slices.DeleteFunc(p.sessions, func(s *session) bool { return slices.Contains(ended[:extra], s) })
	}
	return s, nil
}

// keep waits until a session ends, because its Chromium exits or its idle time is exceeded.
func (p *pool) keep(s *session) {
	timer := time.NewTimer(p.config.Idle)
	defer timer.Stop()
	for {
		select {
		case <-s.browser.Done():
			s.end(diedText)
			<-p.slots
			return
		case <-timer.C:
			idle := s.idle()
			if idle >= p.config.Idle && len(s.turn) == 0 {
				go s.end("it was idle for too long")
			}
			timer.Reset(max(p.config.Idle-idle, time.Second))
		}
	}
}

// find returns a session, or the reason why there is none with this id.
func (p *pool) find(id string) (s *session, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sessions {
		if s.id == id {
			return s, s.over()
		}
	}
	return nil, ""
}

// close ends all sessions.
func (p *pool) close() {
	p.mu.Lock()
	p.shut = true
	sessions := p.sessions
	p.mu.Unlock()
	var wait sync.WaitGroup
	for _, s := range sessions {
		wait.Go(func() { s.end("the server is closing") })
	}
	wait.Wait()
}
