package browser

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/puppeteer"
)

// TestSessions uses two sessions for all tests that need more than one, and for those that end a session.
func TestSessions(t *testing.T) {
	t.Parallel()
	k := newKit(t, Config{MaxSessions: 2})
	defer k.close()
	var ids [2]string
	var wait sync.WaitGroup
	for i := range ids {
		wait.Go(func() { ids[i] = k.launch(t, "pt") })
	}
	wait.Wait()
	t.Run("in parallel", func(t *testing.T) { useInParallel(t, k, ids) })
	if testing.Short() {
		return // the other tests take seconds
	}
	t.Run("with busy pages", func(t *testing.T) { openBusyPages(t, k, ids) })
	t.Run("with a browser that dies", func(t *testing.T) { killBrowser(t, k, ids[0]) })
}

func useInParallel(t *testing.T, k *kit, ids [2]string) {
	t.Helper()
	var wait sync.WaitGroup
	cookie := k.site.handle("/cookie", func(w http.ResponseWriter, r *http.Request) {
		seen, _ := r.Cookie("who")
		if seen == nil {
			seen = &http.Cookie{Value: "unknown"}
		}
		http.SetCookie(w, &http.Cookie{Name: "who", Value: r.URL.RawQuery})
		fmt.Fprintf(w, "<title>%s</title>", seen.Value)
	})
	for round := range 2 {
		for i, id := range ids {
			wait.Go(func() {
				p := pageOf(t, k.call(t, "pt/navigate", args{"session": id, "url": fmt.Sprintf("%s?s%d", cookie, i)}))
				if expected := map[int]string{0: "unknown", 1: fmt.Sprint("s", i)}[round]; p["title"] != expected {
					t.Errorf("session %d, round %d: %v", i, round, p)
				}
			})
		}
		wait.Wait()
	}
	for range 8 { // calls on one session are queued
		wait.Go(func() { k.call(t, "pt/content", args{"session": ids[0]}) })
	}
	wait.Wait()
}

// openBusyPages opens pages that keep a browser busy. Each call with them must end, and the session must stay usable.
func openBusyPages(t *testing.T, k *kit, ids [2]string) {
	t.Helper()
	fine := k.site.page("/fine", "<title>fine</title>fine")
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>endless</title>")
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, "<p>more"); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond): // a part at a time
			}
		}
	}
	never := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	type busy struct{ name, address string }
	pages := make(chan busy, 16)
	open := map[string]string{
		"endless page": k.site.handle("/endless", endless),
		"no answer":    k.site.handle("/never", never),
		"busy script":  k.site.page("/busy", "<script>for(;;);</script>"),
		"dialogs":      k.site.page("/dialogs", "<script>for(;;)alert('x'+confirm('y')+prompt('z'))</script>"),
	}
	for name, address := range open {
		pages <- busy{name, address}
	}
	close(pages)
	var wait sync.WaitGroup
	for _, id := range ids {
		wait.Go(func() {
			for p := range pages {
				openBusyPage(t, k, id, p.name, p.address, fine)
			}
		})
	}
	wait.Wait()
}

func openBusyPage(t *testing.T, k *kit, id, name, address, fine string) {
	t.Helper()
	_, err := k.try(t.Context(), "pt/navigate", args{"session": id, "url": address, "timeoutMs": 500})
	var e *candor.Error
	if !errors.As(err, &e) || e.Code() != puppeteer.Timeout || fmt.Sprint(e.Details()) != `"navigate did not finish within 500 ms"` || !e.Retry().Retryable() {
		t.Errorf("%s: %s", name, explain(err))
	}
	result, err := k.try(t.Context(), "pt/navigate", args{"session": id, "url": fine})
	if err != nil {
		t.Errorf("after %s: %s", name, explain(err))
		return
	}
	if p, _ := result["page"].(map[string]any); p["title"] != "fine" {
		t.Errorf("after %s: %v", name, result)
	}
}

func killBrowser(t *testing.T, k *kit, id string) {
	t.Helper()
	profile := k.profile(t, id)
	begun := make(chan struct{}, 4)
	never := k.site.handle("/never", func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	go func() {
		<-begun
		killChromium(profile)
	}()
	_, details := k.fails(t, puppeteer.Launch, "pt/navigate", args{"session": id, "url": never})
	if details != `"the browser ended during the call; the session is closed"` {
		t.Error(details)
	}
	_, details = k.fails(t, common.SessionNotFound, "pt/content", args{"session": id})
	if details != `"the session is over: its browser ended unexpectedly"` {
		t.Error(details)
	}
	gone(t, profile)
	if _, err := os.Stat(profile); !os.IsNotExist(err) {
		t.Errorf("the profile is left: %v", err)
	}
}
