package fake

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stage is the inner half of an upstream: what the server meets in its namespace.
type stage struct {
	link      *link
	authority *authority
	local     []Port                // besides those of the web; set before the first fault
	refused   interface{ settle() } // what has been refused is told before a fault ends

	mu    sync.Mutex
	fault string         // guarded by mu
	over  chan struct{}  // guarded by mu; closed when the fault ends
	told  int            // guarded by mu; events of this window
	doors []*http.Server // guarded by mu; none while the upstream is down
}

// moment is the fault at one time.
type moment struct {
	fault string
	over  <-chan struct{}
}

func (s *stage) now() moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return moment{s.fault, s.over}
}

// saw tells the outer half of an event.
func (s *stage) saw(event string) {
	s.mu.Lock()
	s.told++
	enough := s.told > maxEvents
	s.mu.Unlock()
	if !enough {
		s.link.send(event)
	}
}

// obey does what the outer half says until that is gone. ready is called when the first fault is in force.
func (s *stage) obey(ctx context.Context, ready func()) error {
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
		case sayPort:
			if p, ok := readPort(rest); ok {
				s.local = append(s.local, p)
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
			return fmt.Errorf("the probe says %q, which is unknown here", bounded(word))
		}
	}
}

// turn ends a fault and begins another.
func (s *stage) turn(ctx context.Context, fault string) error {
	s.refused.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault == Down || s.fault == Slow { // who still waits then must not get the next answer
		for _, door := range s.doors {
			_ = door.Close() // its connections as well
		}
		s.doors = nil
	}
	if s.over != nil {
		close(s.over)
	}
	s.fault, s.over, s.told = fault, make(chan struct{}), 0
	if fault == Down || s.doors != nil {
		return nil
	}
	for _, port := range slices.Concat(webPorts, s.local) {
		door, err := s.open(ctx, port)
		switch {
		case err == nil:
			s.doors = append(s.doors, door)
		case !slices.Contains(s.local, port): // a local port may be one where the server itself listens
			return err
		}
	}
	return nil
}

// open listens on a port. A server that holds it itself is told so by the error.
func (s *stage) open(ctx context.Context, port Port) (*http.Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(port.Number))
	if err != nil {
		return nil, fmt.Errorf("listening inside the namespace: %w", err)
	}
	door := &http.Server{
		Handler: s, ReadHeaderTimeout: 30 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context { return context.WithValue(ctx, whose{}, conn) },
		ErrorLog:    log.New(&distrust{s}, "", 0),
	}
	if port.TLS {
		door.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.authority.certificate}
		go func() { s.served(door.ServeTLS(listener, "", "")) }()
	} else {
		go func() { s.served(door.Serve(listener)) }()
	}
	return door, nil
}

// served ends the stage when a door has failed: a server that meets no upstream must not be judged by what it then says.
func (s *stage) served(err error) {
	if !errors.Is(err, http.ErrServerClosed) {
		_ = s.link.Close()
	}
}

// whose is the key under which a request finds its connection.
type whose struct{}

// reset breaks the connection of a request, as a peer does that has crashed.
func reset(ctx context.Context) {
	conn, _ := ctx.Value(whose{}).(net.Conn)
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // closing is then a reset
		_ = tcp.Close()
	}
}

// distrust is the log of a door: the one thing in it that matters is a client that does not trust the authority.
type distrust struct{ stage *stage }

// Write takes one line.
func (d *distrust) Write(line []byte) (int, error) {
	if text := string(line); strings.Contains(text, "TLS handshake error") && strings.Contains(text, "certificate") {
		d.stage.saw(sawUntrusted)
	}
	return len(line), nil
}
