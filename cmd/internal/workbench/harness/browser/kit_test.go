package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

var all = flag.Bool("all", false, "open every hostile page, not only a part of them")

// TestMain also runs the guard, or launches a session, depending on the arguments.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		code := make(chan int)
		go func() { code <- guard.Main(os.Args[2:]) }() // the first thread may belong to a test
		os.Exit(<-code)
	}
	if len(os.Args) > 1 && os.Args[1] == "launch" {
		launchAndWait()
		os.Exit(0)
	}
	flag.Parse()
	testbinary.Parallel(4)
	if only := flag.Lookup("test.run"); testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("Proxy|SessionLimit|Sessions$|Cancelled") // tests with parallelism; a browser takes seconds to start
	}
	code := m.Run()
	for _, k := range shared.all {
		k.close()
	}
	os.Exit(code)
}

// kit has both domains and a site on loopback that they may reach.
type kit struct {
	domains []domain.Domain
	drivers []*driver
	site    *site
	config  Config
	session string // of a shared kit
}

// site is a web server whose pages tests set.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]http.HandlerFunc
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	handle := s.pages[r.URL.Path]
	s.mu.Unlock()
	if handle == nil {
		http.NotFound(w, r)
		return
	}
	handle(w, r)
}

// page serves HTML at a path and returns its URL.
func (s *site) page(path, html string) string {
	return s.handle(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	})
}

func (s *site) handle(path string, h http.HandlerFunc) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = h
	return s.URL + path
}

// host returns the host:port of the site.
func (s *site) host() string { return strings.TrimPrefix(s.URL, "http://") }

// self returns the command line of the guard.
func self(tb testing.TB) []string {
	tb.Helper()
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return []string{path, "guard"}
}

func needChromium(tb testing.TB) {
	tb.Helper()
	if _, err := find(os.Getenv(EnvPath)); err != nil {
		tb.Skip("no Chromium on the PATH: nothing was tried in a browser")
	}
}

// newKit starts domains that may reach their site and the addresses in allow.
func newKit(tb testing.TB, c Config, allow ...string) *kit {
	tb.Helper()
	needChromium(tb)
	s := &site{pages: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(s)
	var err error
	if c.Policy, err = netpolicy.Parse(strings.Join(append(allow, s.host()), ",")); err != nil {
		tb.Fatal(err)
	}
	c.Guard, c.Timeout = self(tb), 2*time.Minute // a loaded machine needs more than the default
	k := &kit{site: s, config: c}
	for _, c.Name = range []string{Playwright, Puppeteer} {
		d := newDriver(c.withDefaults())
		k.domains, k.drivers = append(k.domains, d.domain()), append(k.drivers, d)
	}
	return k
}

func (k *kit) close() {
	for _, d := range k.domains {
		_ = d.Close()
	}
	k.site.Close()
}

// sharedTraffic is the traffic limit for one page of a shared kit.
const sharedTraffic = 4 << 20

// maxShared is the number of shared kits. Starting another one costs more than it saves.
const maxShared = 1

// shared holds kits with one session each, for tests that do not break the session, because starting a Chromium takes
// seconds. A test has exclusive use of a kit until it ends.
var shared = struct {
	tokens chan struct{} // one element for each kit in use
	mu     sync.Mutex
	all    []*kit
	free   []*kit
}{tokens: make(chan struct{}, maxShared)}

// sharedKit returns a shared kit and the id of its session. The test runs in parallel with others.
func sharedKit(t *testing.T) (*kit, string) {
	t.Helper()
	t.Parallel()
	needChromium(t)
	shared.tokens <- struct{}{}
	t.Cleanup(func() { <-shared.tokens })
	k := takeShared()
	if k == nil {
		k = newKit(t, Config{MaxSessions: 1, MaxTraffic: sharedTraffic})
		k.session = k.launch(t, "pw")
		shared.mu.Lock()
		shared.all = append(shared.all, k)
		shared.mu.Unlock()
	}
	t.Cleanup(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		shared.free = append(shared.free, k)
	})
	return k, k.session
}

func takeShared() *kit {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	last := len(shared.free) - 1
	if last < 0 {
		return nil
	}
	k := shared.free[last]
	shared.free = shared.free[:last]
	return k
}

// args holds the parameters of a call.
type args map[string]any

// try calls a method and returns its decoded JSON result, or its error.
func (k *kit) try(ctx context.Context, method string, a args) (map[string]any, error) {
	for _, d := range k.domains {
		for _, m := range d.Methods {
			if m.Name != method {
				continue
			}
			params, err := json.Marshal(a)
			if err != nil {
				return nil, err
			}
			out, err := m.Run(ctx, params)
			if err != nil {
				return nil, err
			}
			text, err := json.Marshal(out)
			if err != nil {
				return nil, err
			}
			result := map[string]any{}
			return result, json.Unmarshal(text, &result)
		}
	}
	return nil, errors.New("no method " + method)
}

// call is try for calls that must succeed.
func (k *kit) call(tb testing.TB, method string, a args) map[string]any {
	tb.Helper()
	result, err := k.try(tb.Context(), method, a)
	if err != nil {
		tb.Fatalf("%s %v: %s", method, a, explain(err))
	}
	return result
}

func explain(err error) string {
	var e *candor.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%v %v (%v)", e.Code(), e.Details(), errors.Unwrap(e))
	}
	return fmt.Sprint(err)
}

// fails calls a method that must fail with a code, and returns the error and its details.
func (k *kit) fails(tb testing.TB, want candor.Code, method string, a args) (*candor.Error, string) {
	tb.Helper()
	result, err := k.try(tb.Context(), method, a)
	var e *candor.Error
	if !errors.As(err, &e) {
		tb.Fatalf("%s %v: result %v, error %v, want %v", method, a, result, err, want)
	}
	if e.Code() != want {
		tb.Fatalf("%s %v: %s, want %v", method, a, explain(err), want)
	}
	details, err := json.Marshal(e.Details())
	if err != nil {
		tb.Fatal(err)
	}
	return e, string(details)
}

func (k *kit) launch(tb testing.TB, prefix string) string {
	tb.Helper()
	id, _ := k.call(tb, prefix+"/launch", args{})["session"].(string)
	if id == "" {
		tb.Fatal("launch returned no session")
	}
	return id
}

// chromium returns the browser of a session.
func (k *kit) chromium(tb testing.TB, id string) *chromium {
	tb.Helper()
	for _, d := range k.drivers {
		if s, _ := d.pool.find(id); s != nil {
			return s.browser
		}
	}
	tb.Fatalf("no session %s", id)
	return nil
}

// pageOf returns the page member of a result.
func pageOf(tb testing.TB, result map[string]any) map[string]any {
	tb.Helper()
	p, ok := result["page"].(map[string]any)
	if !ok {
		tb.Fatalf("no page in %v", slicesOf(result))
	}
	return p
}

func slicesOf(m map[string]any) []string {
	var keys []string
	for key := range maps.Keys(m) {
		keys = append(keys, key)
	}
	return keys
}
