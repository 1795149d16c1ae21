package natsstore

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/filelock"
)

// embedded is a nats-server in this process. All stores of a process on the same folder share it.
type embedded struct {
	server *server.Server
	syncs  bool
	dir    string
	lock   *os.File
	users  int
}

// running are the embedded servers of this process by folder.
var running = struct {
	sync.Mutex
	byDir map[string]*embedded
}{byDir: map[string]*embedded{}}

// openEmbedded starts a server on a folder, or returns the one that this process runs there.
func openEmbedded(p params, log *slog.Logger) (*embedded, error) {
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return nil, err
	}
	running.Lock()
	defer running.Unlock()
	if e := running.byDir[dir]; e != nil {
		e.users++
		return e, nil
	}
	options, err := embeddedOptions(p, dir)
	if err != nil {
		return nil, err
	}
	e := &embedded{dir: dir, users: 1, syncs: options.SyncAlways}
	if e.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	if e.server, err = startServer(options, log); err != nil {
		return nil, errors.Join(err, e.lock.Close())
	}
	running.byDir[dir] = e
	return e, nil
}

// release ends the server with its last user.
func (e *embedded) release() {
	running.Lock()
	defer running.Unlock()
	if e.users--; e.users > 0 {
		return
	}
	delete(running.byDir, e.dir)
	e.server.Shutdown()
	e.server.WaitForShutdown()
	_ = e.lock.Close()
}

// lockFolder makes sure that no other process has a server on the folder. nats-server itself does not check that.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	lock, err := filelock.Open(root, "candor.lock")
	if errors.Is(err, filelock.ErrLocked) {
		return nil, candor.New(candor.CodePreconditionFailed,
			fmt.Sprintf("another process has a NATS server in %s (hint: start that one with listen=127.0.0.1:4222 and use nats://127.0.0.1:4222 here)", dir))
	}
	return lock, err
}

// embeddedOptions returns the options of the server. It listens nowhere unless the URL or its own configuration says so.
func embeddedOptions(p params, dir string) (*server.Options, error) {
	options := &server.Options{DontListen: true, MaxPayload: 4 << 20, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: -1}
	if p.config != "" {
		var err error
		if options, err = server.ProcessConfigFile(p.config); err != nil {
			return nil, invalid("config=%s: %v", p.config, err)
		}
		options.DontListen = options.Port == 0 && options.Host == ""
		options.MaxPayload = max(options.MaxPayload, 4<<20)
	}
	if options.ServerName == "" {
		options.ServerName = p.node
	}
	options.JetStream, options.StoreDir, options.SyncAlways = true, dir, true
	options.NoSigs = true // the program handles signals
	return options, listen(options, p)
}

func listen(options *server.Options, p params) error {
	if p.listen == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(p.listen)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil {
		return invalid("listen=%s: not an address such as 127.0.0.1:4222", p.listen)
	}
	address := net.ParseIP(host)
	if p.config == "" && (address == nil || !address.IsLoopback()) {
		return invalid("listen=%s: other machines could write without credentials (hint: name a configuration with users and TLS with config=FILE)", p.listen)
	}
	options.DontListen, options.Host, options.Port = false, host, int(number)
	if number == 0 {
		options.Port = server.RANDOM_PORT
	}
	return nil
}

// startTimeout limits how long an embedded server may take to read its folder.
const startTimeout = 30 * time.Second

func startServer(options *server.Options, log *slog.Logger) (*server.Server, error) {
	running, err := server.NewServer(options)
	if err != nil {
		return nil, invalid("the embedded NATS server: %v", err)
	}
	output := &serverLog{log: log}
	running.SetLoggerV2(output, false, false, false)
	running.Start()
	for end := time.Now().Add(startTimeout); output.fatal() == "" && time.Now().Before(end); {
		if running.ReadyForConnections(100*time.Millisecond) && running.JetStreamEnabled() {
			return running, nil
		}
	}
	running.Shutdown()
	running.WaitForShutdown()
	return nil, candor.New(candor.CodeUnavailable, "the embedded NATS server did not start: "+cmp.Or(output.fatal(), "no reason given"))
}

// serverLog passes the log of an embedded server on. A fatal error does not end the program.
type serverLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	last string
}

// fatal returns the reason why the server could not start, or nothing.
func (l *serverLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Fatalf keeps the reason why a server could not start.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = fmt.Sprintf(format, v...)
	l.log.Error("the embedded nats-server cannot run", slog.String("message", l.last))
}

// Errorf logs an error.
func (l *serverLog) Errorf(format string, v ...any) {
	l.log.Error("the embedded nats-server reports an error", slog.String("message", fmt.Sprintf(format, v...)))
}

// Warnf logs a warning.
func (l *serverLog) Warnf(format string, v ...any) {
	l.log.Warn("the embedded nats-server warns", slog.String("message", fmt.Sprintf(format, v...)))
}

// Noticef logs a note.
func (l *serverLog) Noticef(format string, v ...any) {
	l.log.Debug("the embedded nats-server notes", slog.String("message", fmt.Sprintf(format, v...)))
}

// Debugf logs details.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef logs traffic, which is never wanted.
func (l *serverLog) Tracef(string, ...any) {}

var _ fleet.Engine = Engine{}
