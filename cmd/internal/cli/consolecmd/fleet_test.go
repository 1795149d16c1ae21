package consolecmd_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/consolecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/copier"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// engine opens the store in a folder for every URL.
type engine struct{ dir string }

func (e engine) Open(context.Context, fleet.Location, fleet.OpenOptions) (fleet.Store, error) {
	return filestore.Open(e.dir), nil
}

// output is standard error of a command.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// shipped records failures in a ledger of their own and copies it to a store as that of a node.
func shipped(t *testing.T, store, node string, n int) {
	t.Helper()
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if _, err := l.Append(t.Context(), ledger.EntryOf(candor.New(candor.CodeTimeout, "late"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	from, err := copier.OpenLedger(dir, node)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // only read
	to := filestore.Open(store)
	defer to.Close() //nolint:errcheck // everything is durable
	if _, err := copier.Copy(t.Context(), from, to, copier.Options{}); err != nil {
		t.Fatal(err)
	}
}

// console is a running candor console.
type consoleRun struct {
	t     *testing.T
	err   *output
	http  http.Client // has the cookie of the link
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, state, store string, args ...string) *consoleRun {
	t.Helper()
	c := &consoleRun{t: t, err: &output{}, ended: make(chan error, 1)}
	env := &term.Env{
		In: strings.NewReader(""), Out: term.NewOutput(io.Discard, false), Err: c.err, Now: time.Now,
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": state, "XDG_CACHE_HOME": state}[name]
		},
		Engines: fleet.Engines{"file": filestore.Engine{}, "postgres": engine{store}},
	}
	cmd := consolecmd.New(env)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	ctx, cancel := context.WithCancel(t.Context())
	c.stop = cancel
	go func() { c.ended <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(cancel)
	return c
}

// page awaits a page that contains a text.
func (c *consoleRun) page(path, text string) {
	c.t.Helper()
	var link []string
	wait.Until(c.t, "the link", func() bool {
		link = regexp.MustCompile(`console on ((http://\S+)/login\S+)`).FindStringSubmatch(c.err.String())
		return link != nil
	})
	if c.http.Jar == nil {
		c.http.Jar, _ = cookiejar.New(nil) // never fails
		c.get(link[1])
	}
	wait.Until(c.t, text+" at "+path, func() bool { return strings.Contains(c.get(link[2]+path), text) })
}

// get returns the body at an address.
func (c *consoleRun) get(address string) string {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}

func (c *consoleRun) end() {
	c.t.Helper()
	c.stop()
	if err := <-c.ended; err != nil {
		c.t.Errorf("the console ended with %v", err)
	}
}

func TestConsoleShowsAllNodesOfAStore(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"folder": "", "mirror": "postgres://db/ledger?node=n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, store := t.TempDir(), t.TempDir()
			if url == "" {
				url = "file:" + store
			}
			shipped(t, store, "web-1", 3)
			shipped(t, store, "web-2", 2)
			c := start(t, state, store, "--ledger", url)
			c.page("/", `id="n-failures">5<`)
			c.page("/api/v1/summary", `"nodes":[{"name":"web-1","count":3},{"name":"web-2","count":2}]`)
			c.page("/api/v1/verification", `"state":"ok"`)
			shipped(t, store, "web-3", 4) // while it runs
			c.page("/?node=web-3", `id="n-failures">4<`)
			c.end()
			copies, err := filepath.Glob(filepath.Join(state, "candor/fleet/*/web-3"))
			if err != nil || (len(copies) == 1) != (name == "mirror") {
				t.Errorf("copies: %v, %v", copies, err)
			}

			c = start(t, state, store, url) // continues with the copy
			c.page("/", `id="n-failures">9<`)
			c.end()
		})
	}
}

func TestConsoleNeedsAStoreThatExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{"file:" + dir + "/none"}, {"--ledger", "file:a", "file:b"}, {"file:" + dir, "--profiles", dir}, {"nats://127.0.0.1:1"}} {
		c := start(t, dir, dir, args...)
		if err := <-c.ended; err == nil {
			t.Errorf("candor console %v succeeded", args)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("the folder was made")
	}
}
