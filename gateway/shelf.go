package gateway

import (
	"sync"

	"github.com/candor-mcp/candor/wire"
)

// shelf holds what was learnt of the tools, apart for each session: a server may list other tools to other callers, and what one of them
// was told neither binds nor concerns the next.
type shelf struct {
	own      toolbox  // asked for by the gateway itself, of a server that it has started: true for all
	sessions sync.Map // string → *toolbox
	mu       sync.Mutex
	count    int
	nobodys  toolbox // listed without a session: good for schemas, but no proof that a tool does not exist
}

// maxBoxes bounds the sessions whose lists are remembered. When they are too many, all are forgotten.
const maxBoxes = 4096

// of returns the toolbox of a session, making it if asked to; nil if there is none.
func (s *shelf) of(session string, make bool) *toolbox {
	if box, ok := s.sessions.Load(session); ok {
		return box.(*toolbox) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	if !make {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count++; s.count > maxBoxes {
		s.sessions.Clear()
		s.count = 1
	}
	box, _ := s.sessions.LoadOrStore(session, &toolbox{})
	return box.(*toolbox) //nolint:errcheck,forcetypeassert // nothing else is stored
}

// find returns a tool as a session knows it, and whether all tools of that session are known.
func (s *shelf) find(session, name string) (found *tool, complete bool) {
	if session != "" {
		if box := s.of(session, false); box != nil {
			if found, complete = box.find(name); complete {
				return found, true
			}
		}
	}
	if found, complete = s.own.find(name); complete {
		return found, true
	}
	if session == "" {
		found, _ = s.nobodys.find(name)
	}
	return found, false
}

// names returns the tools that a session may be told of.
func (s *shelf) names(session string) []string {
	if box := s.of(session, false); box != nil && session != "" {
		if _, complete := box.find(""); complete {
			return box.names()
		}
	}
	return s.own.names()
}

// learn takes a page of the list that a session has asked for.
func (s *shelf) learn(session string, result wire.Value, cursor string) {
	if session == "" {
		s.nobodys.learn(result, cursor)
		return
	}
	s.of(session, true).learn(result, cursor)
}

// forget drops everything, because the server says that its tools have changed.
func (s *shelf) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions.Clear()
	s.count = 0
	s.own.forget()
	s.nobodys.forget()
}
