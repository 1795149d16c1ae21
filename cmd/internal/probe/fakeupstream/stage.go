package fakeupstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// stage is the inner half of an upstream, in the namespace of a server.
type stage struct {
	link      *link
	authority *authority
	refused   interface{ settle() } // reports refusals before a fault ends

	mu      sync.Mutex
	fault   string        // guarded by mu
	over    chan struct{} // guarded by mu; closed when the fault ends
	told    int           // guarded by mu; reported events of this window
	servers []webServer   // guarded by mu; none while the upstream is down
}

// webServer is the upstream at one port.
type webServer struct {
	listener net.Listener
	http     *http.Server
}

// close closes the listener and all connections. It closes the listener itself because a server that does not yet accept connections leaves
// that to later: a client would then be reset instead of refused.
func (s webServer) close() {
	_ = s.http.Close()
	_ = s.listener.Close()
}

// moment is the fault at one point in time.
type moment struct {
	fault string
	over  <-chan struct{}
}

func (s *stage) now() moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return moment{s.fault, s.over}
}

// report reports an event to the outer half.
func (s *stage) report(event string) {
	s.mu.Lock()
	s.told++
	enough := s.told > maxEvents
	s.mu.Unlock()
	if !enough {
		s.link.send(event)
	}
}

// serveCommands carries out the commands of the outer half until it ends. ready is called when the first fault is set.
func (s *stage) serveCommands(ctx context.Context, ready func()) error {
	for {
		word, rest, err := s.link.receive()
		if err != nil {
			return err
		}
		switch word {
		case sayAuthority:
			if s.authority, err = readAuthority(rest); err != nil {
				return err
			}
		case sayFault:
			window, fault, _ := strings.Cut(rest, " ")
			if err := s.turn(ctx, fault); err != nil {
				return err
			}
			s.link.send(sawSettled + " " + window)
			if ready != nil {
				ready()
				ready = nil
			}
		default:
			return fmt.Errorf("unknown command %q from the probe", bounded(word))
		}
	}
}

// turn sets another fault.
func (s *stage) turn(ctx context.Context, fault string) error {
	s.refused.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault == Down || s.fault == Slow { // clients that still wait must not get the next answer
		for _, srv := range s.servers {
			srv.close()
		}
		s.servers = nil
	}
	if s.over != nil {
		close(s.over)
	}
	s.fault, s.over, s.told = fault, make(chan struct{}), 0
	if fault == Down || s.servers != nil {
		return nil
	}
	for _, secure := range []bool{false, true} {
		srv, err := s.open(ctx, secure)
		if err != nil {
			return err
		}
		s.servers = append(s.servers, srv)
	}
	return nil
}

// open listens on the port of HTTP or HTTPS.
func (s *stage) open(ctx context.Context, secure bool) (webServer, error) {
	address := ":80"
	if secure {
		address = ":443"
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return webServer{}, fmt.Errorf("listening inside the namespace: %w", err)
	}
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: 30 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	if secure {
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.authority.certificate}
		go func() { s.served(srv.ServeTLS(listener, "", "")) }()
	} else {
		go func() { s.served(srv.Serve(listener)) }()
	}
	return webServer{listener, srv}, nil
}

// served ends the stage if a listener has failed: without its upstream the server must not be judged.
func (s *stage) served(err error) {
	if !errors.Is(err, http.ErrServerClosed) {
		_ = s.link.Close()
	}
}
