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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

var all = flag.Bool("all", false, "open every hostile page, not only a part of them")

// TestMain also launches a session if the arguments ask for it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "launch" {
		launchAndWait()
		os.Exit(0)
	}
	flag.Parse()
	testbinary.Parallel(4)
	if only := flag.Lookup("test.run"); testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("Proxy|Sessions$|Cancelled") // tests with parallelism; a browser takes seconds to start
	}
	code := m.Run()
	if shared.kit != nil {
		shared.kit.close()
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

// site is a web server with pages that tests set.
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
	c.Timeout = 2 * time.Minute // a loaded machine needs more than the default
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

// shared is a kit with one session, for tests that do not break the session, because starting a Chromium takes seconds. A
// test has exclusive use of it until it ends.
var shared struct {
	mu  sync.Mutex
	kit *kit
}

// sharedKit returns the shared kit and the id of its session.
func sharedKit(t *testing.T) (*kit, string) {
	t.Helper()
	t.Parallel()
	needChromium(t)
	shared.mu.Lock()
	t.Cleanup(shared.mu.Unlock)
	if shared.kit == nil {
		shared.kit = newKit(t, Config{MaxSessions: 1})
		shared.kit.session = shared.kit.launch(t, "pw")
	}
	return shared.kit, shared.kit.session
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

// profile returns the profile of a session.
func (k *kit) profile(tb testing.TB, id string) string {
	tb.Helper()
	for _, d := range k.drivers {
		if s, _ := d.pool.find(id); s != nil {
			return s.profile.Path
		}
	}
	tb.Fatalf("no session %s", id)
	return ""
}

// pageOf returns the page member of a result.
func pageOf(tb testing.TB, result map[string]any) map[string]any {
	tb.Helper()
	p, ok := result["page"].(map[string]any)
	if !ok {
		tb.Fatalf("no page in %v", slices.Collect(maps.Keys(result)))
	}
	return p
}
