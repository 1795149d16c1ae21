package candortest

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/mcpclient"
)

// Transport opens connections to the server under test. [Stdio], [HTTP] and [HTTPHandler] return one. A connection is opened for
// every check, never two at a time, and each is closed.
type Transport struct {
	open func() (mcpclient.Conn, error)
	http bool
}

// maxFrame bounds the bytes of a message that the kit reads.
const maxFrame = 1 << 20

// Stdio starts the command for every connection and speaks MCP over its standard input and output. The process and its
// children are killed when the connection closes. CANDOR_LEDGER is set to "none", so that a server built with Candor
// records nothing.
func Stdio(command string, args ...string) Transport {
	return StdioFunc(func() *exec.Cmd {
		return exec.Command(command, args...) //nolint:noctx // its end is that of the connection, which kills the whole group
	})
}

// StdioFunc is like [Stdio] with a command that the caller prepares, for example with environment variables such as
// CANDOR_LEDGER or a working directory. start is called for every connection and must return a new command with no
// standard streams attached.
func StdioFunc(start func() *exec.Cmd) Transport {
	return Transport{open: func() (mcpclient.Conn, error) {
		cmd := start()
		withoutLedger(cmd)
		return mcpclient.Start(cmd, mcpclient.StdioOptions{MaxBytes: maxFrame})
	}}
}

const ledgerVariable = "CANDOR_LEDGER"

// withoutLedger keeps the server from recording the failures of the checks in the ledger of the user who runs the tests.
// A ledger that the caller has set for this command is kept.
func withoutLedger(cmd *exec.Cmd) {
	inherited := os.Getenv(ledgerVariable)
	for _, setting := range cmd.Env {
		if dir, ok := strings.CutPrefix(setting, ledgerVariable+"="); ok && dir != inherited && dir != "" {
			return
		}
	}
	cmd.Env = append(cmd.Environ(), ledgerVariable+"=none")
}

// HTTP connects to the server at url over streamable HTTP. The header is sent with every request, for example with a token;
// it may be nil.
func HTTP(url string, header http.Header) Transport {
	return overHTTPTo(func() (string, func(), error) { return url, func() {}, nil }, header)
}

// HTTPHandler serves h on a new loopback port for every connection and connects to it over streamable HTTP. It runs
// in this process: a panic in a goroutine that h started ends the test run.
func HTTPHandler(h http.Handler) Transport {
	return HTTPFunc(func() (string, func(), error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it binds at once and waits for nothing
		if err != nil {
			return "", nil, fmt.Errorf("opening a loopback port: %w", err)
		}
		// The server's log about refused requests would only hide the findings.
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(listener) }()                                      // Close ends it
		return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil // the error does not matter after the check
	})
}

// HTTPFunc calls start for every connection and connects over streamable HTTP to the URL it returns; stop
// ends that server. It is for servers that a check may kill.
func HTTPFunc(start func() (url string, stop func(), err error)) Transport {
	return overHTTPTo(start, nil)
}

func overHTTPTo(start func() (url string, stop func(), err error), header http.Header) Transport {
	return Transport{http: true, open: func() (mcpclient.Conn, error) {
		url, stop, err := start()
		if err != nil {
			return nil, err
		}
		return &served{mcpclient.OpenHTTP(url, mcpclient.HTTPOptions{Header: header, MaxBytes: maxFrame}), stop}, nil
	}}
}

// served is a connection to a server that ends with it.
type served struct {
	*mcpclient.HTTP
	stop func()
}

// Close ends the connection and the server.
func (s *served) Close(patient bool) {
	s.HTTP.Close(patient)
	s.stop()
}
