package fakeupstream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
)

// TestMain also runs the hidden command, and the server that is started in the namespace.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "probe-inside":
			if err := fakeupstream.InsideMain(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(3)
			}
			os.Exit(0)
		case "server":
			serve()
		}
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // otherwise each process waits a second before it exits
	os.Exit(m.Run())
}

// serve carries out the command on each line of its input, and answers with one line.
func serve() {
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, syscall.SIGTERM)
	go func() {
		for range asked {
			fmt.Println("asked")
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		fmt.Printf("%s\n", strings.Join(strings.Fields(serveCommands(word, rest)), " "))
	}
	os.Exit(0)
}

// serveCommands is long because it has one case for each command.
func serveCommands(word, rest string) string {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	switch word {
	case "get":
		return get(ctx, http.DefaultClient, http.MethodGet, rest)
	case "head":
		return get(ctx, http.DefaultClient, http.MethodHead, rest)
	case "impatient":
		return giveUp(ctx, rest)
	case "distrust":
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool()}}}
		return get(ctx, client, http.MethodGet, "https://"+rest)
	case "lookup":
		addresses, err := net.DefaultResolver.LookupHost(ctx, rest)
		return fmt.Sprint(addresses, err)
	case "dial":
		_, err := (&net.Dialer{}).DialContext(ctx, "tcp", rest)
		return fmt.Sprint(err)
	case "connect":
		_, err := (&net.Dialer{}).DialContext(ctx, "unix", rest)
		return fmt.Sprint(err)
	case "env":
		return os.Getenv(rest)
	case "read":
		text, err := os.ReadFile(rest)
		return fmt.Sprintf("%q %v", text, err)
	case "unmount":
		return fmt.Sprint(syscall.Unmount(rest, 0))
	case "links":
		links, err := net.Interfaces()
		names := fmt.Sprint(err)
		for _, link := range links {
			names += " " + link.Name
		}
		return names
	case "daemon":
		child := exec.Command(os.Args[0], "server")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		child.Args = append(child.Args, rest)
		if _, err := child.StdinPipe(); err != nil {
			return err.Error()
		}
		return fmt.Sprint(child.Start())
	case "exit":
		code, err := strconv.Atoi(rest)
		if err != nil {
			return err.Error()
		}
		os.Exit(code)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return "?"
}

func get(ctx context.Context, client *http.Client, method, url string) string {
	request, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Content-Type"), " retry=", response.Header.Get("Retry-After"),
		" auth=", response.Header.Get("Www-Authenticate"), " ", string(body), err)
}

// giveUp sends a request and cancels it shortly after the server has confirmed its arrival, so that the request was
// certainly received.
func giveUp(ctx context.Context, url string) string {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got100Continue: func() { time.AfterFunc(50*time.Millisecond, stop) }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Expect", "100-continue")
	response, err := http.DefaultClient.Do(request) // which keeps the connection alive if possible
	if err != nil {
		return err.Error()
	}
	return response.Status + fmt.Sprint(response.Body.Close())
}

// start creates an upstream. It returns nil if this system cannot, after checking the error.
func start(t *testing.T) *fakeupstream.Upstream {
	t.Helper()
	if err := fakeupstream.Available(); err != nil {
		if !strings.Contains(err.Error(), "hint: ") {
			t.Fatalf("the reason has no next step: %v", err)
		}
		t.Logf("not tried here: %v", err)
		return nil
	}
	up, err := fakeupstream.Start(t.Context(), fakeupstream.Options{Inside: []string{os.Args[0], "probe-inside"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := up.Close(); err != nil {
			t.Error(err)
		}
	})
	return up
}

// server is a server in the namespace.
type server struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func run(t *testing.T, up *fakeupstream.Upstream, command ...string) *server {
	t.Helper()
	if len(command) == 0 {
		command = []string{os.Args[0], "server"}
	}
	line := up.Wrap(command)
	s := &server{t: t, cmd: exec.Command(line[0], line[1:]...)}
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), up.Environ()...), os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.lines = bufio.NewScanner(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.in.Close()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s
}

// ask sends a command to the server and returns its answer.
func (s *server) ask(what string) string {
	s.t.Helper()
	if _, err := io.WriteString(s.in, what+"\n"); err != nil {
		s.t.Fatal(err)
	}
	if !s.lines.Scan() {
		s.t.Fatalf("no answer to %q: %v", what, s.lines.Err())
	}
	return s.lines.Text()
}

func wants(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("got %q, want %q in it", got, part)
		}
	}
}
