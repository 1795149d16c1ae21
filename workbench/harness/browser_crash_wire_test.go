//go:build linux

package harness_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// killRenderers kills the processes of a harness that show pages.
func killRenderers(t *testing.T, h *harness) {
	t.Helper()
	parents := map[int]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	killed := 0
	for pid := range parents {
		below := pid
		for below != 0 && below != h.cmd.Process.Pid {
			below = parents[below]
		}
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if below != 0 && strings.Contains(string(line), "--type=renderer") && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("no renderer was found")
	}
}

// TestSessionSurvivesAKilledRenderer kills the process of the page between calls and during calls.
func TestSessionSurvivesAKilledRenderer(t *testing.T) {
	t.Parallel() // it waits for Chromium
	needChromium(t)
	begun := make(chan struct{}, 16)
	var slow atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow": // the first time
			if slow.Add(1) == 1 {
				begun <- struct{}{}
				<-r.Context().Done()
			}
			fmt.Fprint(w, "<title>slow</title>")
		case "/busy":
			fmt.Fprint(w, `<script>let r = new XMLHttpRequest(); r.open("GET", "/begun", false); r.send(); for(;;);</script>`)
		case "/begun":
			begun <- struct{}{}
		default:
			fmt.Fprint(w, "<title>fine</title>text")
		}
	}))
	defer server.Close()
	h := startBrowsers(t, server)
	defer h.kill()
	id := launch(t, h, "pw")
	call := func(method, more string) reply { return h.ask("pw/"+method, fmt.Sprintf(`{"session":%q%s}`, id, more)) }
	fine := func(after string) {
		t.Helper()
		if title, _ := call("navigate", fmt.Sprintf(`,"url":%q`, server.URL)).result().Path("page", "title").Str(); title != "fine" {
			t.Errorf("after %s: the title is %q", after, title)
		}
	}
	crashed := func(during string, r reply) {
		t.Helper()
		r.fails(2100, "playwright/E_PW_NAV")
		if retryable, _ := r.m.Error().Path("data", "retryable").Bool(); r.details() != `"the page crashed"` || retryable {
			t.Errorf("%s: %s", during, r.m.Bytes())
		}
	}
	fine("launch")
	for _, method := range []string{"content", "screenshot", "select", "click", "type"} {
		more := map[string]string{"select": `,"selector":"p"`, "click": `,"selector":"p"`, "type": `,"selector":"p","text":"x"`}[method]
		killRenderers(t, h)
		crashed(method, call(method, more))
		call("content", "").result() // a blank page
		fine(method)
	}
	killRenderers(t, h)
	fine("a kill between calls")
	during := func(path string) reply {
		h.next++
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"pw/navigate","params":{"session":%q,"url":%q}}`, h.next, id, server.URL+path))
		<-begun
		killRenderers(t, h)
		return reply{t, wire.Parse(h.line(), wire.Limits{})}
	}
	crashed("a page that runs", during("/busy"))
	fine("a kill of a page that runs")
	if title, _ := during("/slow").result().Path("page", "title").Str(); title != "slow" { // the page before was killed
		t.Errorf("the title is %q", title)
	}
	fine("a kill before the page was there")
	if n := h.ask("pw/sessions", `{}`).result().Path("sessions").Len(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}
