package natscluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Server is one nats-server process. Its methods are safe for concurrent use.
type Server struct {
	Name string // n1, n2, …
	Dir  string // holds the configuration, the log and the store

	host    host
	t       testing.TB
	program string

	mu      sync.Mutex
	command *exec.Cmd // nil if no process was started, or it was killed
	done    chan struct{}
	out     *os.File
}

// ClientAddress returns HOST:PORT for clients.
func (s *Server) ClientAddress() string { return fmt.Sprintf("%s:%d", s.host.address, s.host.port) }

// MonitorURL returns the URL of the monitoring port.
func (s *Server) MonitorURL() string {
	return fmt.Sprintf("http://%s:%d", s.host.address, s.host.port+2)
}

func (s *Server) routeAddress() string { return fmt.Sprintf("%s:%d", s.host.address, s.host.port+1) }
func (s *Server) config() string       { return filepath.Join(s.Dir, "nats.conf") }
func (s *Server) logFile() string      { return filepath.Join(s.Dir, "log") }

// Start starts the process. It does not wait until the server is ready; see [Cluster.WaitReady].
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command != nil {
		return fmt.Errorf("%s runs already", s.Name)
	}
	out, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	words := append(append([]string{}, s.host.prefix...), s.program, "-c", s.config())
	command := exec.CommandContext(context.Background(), words[0], words[1:]...)
	command.Stdout, command.Stderr = out, out
	dieWithParent(command)
	if err := command.Start(); err != nil {
		return errors.Join(err, out.Close())
	}
	done := make(chan struct{})
	go func() {
		_ = command.Wait() // the tests kill it, so the exit status says nothing
		close(done)
	}()
	s.command, s.done, s.out = command, done, out
	return nil
}

// Kill ends the process with SIGKILL, also one that is paused, and waits for its end.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command == nil {
		return
	}
	_ = s.command.Process.Kill() // an error means that it has exited
	<-s.done
	_ = s.out.Close()
	s.command = nil
}

// Pause stops the process with SIGSTOP. Its connections stay open.
func (s *Server) Pause() error { return s.signal(pauseSignal) }

// Continue resumes a paused process.
func (s *Server) Continue() error { return s.signal(continueSignal) }

func (s *Server) signal(signal os.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command == nil {
		return fmt.Errorf("%s does not run", s.Name)
	}
	return s.command.Process.Signal(signal)
}

// Running reports whether the process was started and not killed.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.command != nil
}

func (s *Server) exited() bool {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Log returns what the server has logged.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}
