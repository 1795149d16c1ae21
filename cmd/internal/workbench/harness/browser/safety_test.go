package browser

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/codes/playwright"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// forbidden returns a server on loopback that is not allowed and must never be reached.
func forbidden(t *testing.T) (server *httptest.Server, reached *atomic.Int64) {
	t.Helper()
	reached = new(atomic.Int64)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "<title>secret</title>secret")
	}))
	t.Cleanup(server.Close)
	return server, reached
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	k, session := sharedKit(t)
	server, reached := forbidden(t)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	for _, host := range []string{ // the tests of netpolicy have all addresses
		"127.0.0.1", "localhost", "localhost.", "127.1", "0x7f.1", "0", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "①②⑦.0.0.1",
		"169.254.169.254", "10.0.0.1", "100.100.100.200", "[fe80::1]",
	} {
		for _, scheme := range []string{"http", "https"} {
			if scheme == "https" && host != "localhost" && host != "[::ffff:127.0.0.1]" {
				continue // a tunnel requests the same addresses
			}
			e, details := k.fails(t, playwright.Nav, "pw/navigate", args{"session": session, "url": scheme + "://" + host + ":" + port + "/"})
			if details != `"`+errDeniedText+`"` && details != `"net::ERR_NAME_NOT_RESOLVED"` { // some names cannot be resolved here
				t.Errorf("%s://%s: %s", scheme, host, details)
			}
			if strings.Contains(details, "ADMINISTRATOR") && e.Retry().Retryable() {
				t.Errorf("%s: retryable", host)
			}
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
}

func TestUnsupportedURLsAreRefused(t *testing.T) {
	k, session := sharedKit(t)
	for _, address := range []string{
		"file:///etc/passwd", "FILE:///etc/passwd", "file://localhost/etc/passwd", " file:///etc/passwd", "file:/etc/passwd", "data:text/html,x", "javascript:alert(1)",
		"JaVaScRiPt:alert(1)", "chrome://version", "chrome://crash", "chrome-extension://x/y", "about:blank", "about:version", "view-source:http://example.com/",
		"view-source:file:///etc/passwd", "devtools://devtools/bundled/inspector.html", "blob:http://example.com/x", "filesystem:http://example.com/x",
		"ftp://example.com/", "ws://example.com/", "intent://x", "mailto:a@b", "/etc/passwd", "etc/passwd", "example.com", "", "http://", "http:///x",
		"https://user:password@example.com/", "http://exa mple.com/", "http://example.com:port/", "http://example.com:65536/", "https://example.com:99999/x", "http://[::1]:100000/", "http://example.com:0/", "http://example.com:-1/", "http://exa<mple.com/", "http://256.256.256.256/", "http://1.2.3.4.5/",
		"http://%zz/", "\thttp://\x00/", "ht\ntp://example.com/",
	} {
		if _, details := k.fails(t, common.InvalidParams, "pw/navigate", args{"session": session, "url": address}); !strings.HasPrefix(details, `"url: `) {
			t.Errorf("%q: %s", address, details)
		}
	}
	_, _ = k.fails(t, common.InputTooLarge, "pw/navigate", args{"session": session, "url": "http://example.com/" + strings.Repeat("a", maxURL)})
}

// TestPageCannotReachForbiddenAddresses has a page that tries to reach forbidden addresses in every possible way. No
// attempt may succeed, and the session must stay usable.
func TestPageCannotReachForbiddenAddresses(t *testing.T) {
	k, session := sharedKit(t)
	server, reached := forbidden(t)
	secret := server.URL + "/secret"
	ways := map[string]string{
		"iframe":       `<iframe src="%s"></iframe>`,
		"image":        `<img src="%s">`,
		"script":       `<script src="%s"></script>`,
		"style":        `<link rel=stylesheet href="%s">`,
		"prefetch":     `<link rel=prefetch href="%[1]s"><link rel=preconnect href="%[1]s"><link rel=dns-prefetch href="%[1]s"><link rel=prerender href="%[1]s">`,
		"speculation":  `<script type=speculationrules>{"prefetch":[{"urls":["%[1]s"]}],"prerender":[{"urls":["%[1]s"]}]}</script>`,
		"fetch":        `<script>fetch("%s").then(r=>r.text()).then(t=>document.title=t)</script>`,
		"beacon":       `<script>navigator.sendBeacon("%s","x")</script>`,
		"websocket":    `<script>new WebSocket("%s".replace("http","ws"))</script>`,
		"eventsource":  `<script>new EventSource("%s")</script>`,
		"window":       `<script>window.open("%s")</script>`,
		"worker":       `<script>new Worker(URL.createObjectURL(new Blob(["fetch('%s')"])))</script>`,
		"webtransport": `<script>new WebTransport("%s".replace("http:","https:"))</script>`,
		"object":       `<object data="%[1]s"></object><embed src="%[1]s">`,
		"video":        `<video src="%s" autoplay></video>`,
		"ping":         `<a id=a href="#x" ping="%s">a</a><script>document.getElementById("a").click()</script>`,
	}
	for name, way := range ways {
		address := k.site.page("/reach-"+name, "<title>page</title>"+fmt.Sprintf(way, secret))
		k.call(t, "pw/navigate", args{"session": session, "url": address})
		if title := pageOf(t, k.call(t, "pw/content", args{"session": session}))["title"]; title != "page" {
			t.Errorf("%s: the title is %v", name, title)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
}

// TestPageCannotNavigateToForbiddenAddresses has pages that navigate to forbidden addresses, so that the navigation
// itself fails.
func TestPageCannotNavigateToForbiddenAddresses(t *testing.T) {
	k, session := sharedKit(t)
	server, reached := forbidden(t)
	targets := map[string]string{
		"loopback": server.URL + "/", "metadata": "http://169.254.169.254/", "file": "file:///etc/passwd", "data": "data:text/html,<title>secret</title>secret",
		"chrome": "chrome://version/", "view-source": "view-source:" + k.site.URL + "/ways", "blob": "blob:x",
	}
	k.site.page("/ways", "ways")
	ways := map[string]func(w http.ResponseWriter, target string){
		"redirect": func(w http.ResponseWriter, target string) {
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusFound)
		},
		"refresh header": func(w http.ResponseWriter, target string) { w.Header().Set("Refresh", "0; url="+target) },
		"meta": func(w http.ResponseWriter, target string) {
			fmt.Fprintf(w, `<meta http-equiv=refresh content="0; url=%s">`, target)
		},
		"script": func(w http.ResponseWriter, target string) { fmt.Fprintf(w, `<script>location=%q</script>`, target) },
		"form": func(w http.ResponseWriter, target string) {
			fmt.Fprintf(w, `<form id=f action="%s" method=post></form><script>document.getElementById("f").submit()</script>`, target)
		},
		"frame": func(w http.ResponseWriter, target string) { fmt.Fprintf(w, `<iframe src="%s"></iframe>`, target) },
		"top": func(w http.ResponseWriter, target string) {
			fmt.Fprintf(w, `<iframe srcdoc="<script>top.location='%s'</script>"></iframe>`, target)
		},
	}
	for i, way := range slices.Sorted(maps.Keys(ways)) {
		for j, name := range slices.Sorted(maps.Keys(targets)) {
			if !*all && (i+j)%len(targets) > 1 {
				continue // every way and every target is used twice
			}
			write, target := ways[way], targets[name]
			address := k.site.handle("/leave-"+strings.ReplaceAll(way, " ", "-")+"-"+name, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				write(w, target)
			})
			_, err := k.try(t.Context(), "pw/navigate", args{"session": session, "url": address, "timeoutMs": 10_000})
			var e *candor.Error
			if errors.As(err, &e) && e.Code() != playwright.Nav {
				t.Errorf("%s to %s: %v", way, name, err)
			}
			time.Sleep(20 * time.Millisecond) // for later actions of the page
			result, err := k.try(t.Context(), "pw/content", args{"session": session})
			if err != nil {
				if !errors.As(err, &e) || e.Code() != playwright.Nav { // the page is an error page
					t.Errorf("%s to %s: %s", way, name, explain(err))
				}
				continue
			}
			p := pageOf(t, result)
			if text := fmt.Sprint(p["title"], p["text"]); strings.Contains(text, "secret") || strings.Contains(text, "root:") || strings.Contains(text, "Chromium") {
				t.Errorf("%s to %s: shows %v", way, name, p)
			}
			if shown, _ := p["url"].(string); !strings.HasPrefix(shown, k.site.URL) && shown != "about:blank" {
				t.Errorf("%s to %s: at %s", way, name, shown)
			}
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
}

// TestPageSendsNoDatagrams checks that WebRTC and QUIC do not bypass the proxy.
func TestPageSendsNoDatagrams(t *testing.T) {
	k, session := sharedKit(t)
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	address := k.site.page("/udp", fmt.Sprintf(`<title>waiting</title><script>
		const c = new RTCPeerConnection({iceServers: [{urls: "stun:%[1]s"}, {urls: "turn:%[1]s", username: "a", credential: "b"}]});
		c.createDataChannel("x");
		c.onicegatheringstatechange = () => { if (c.iceGatheringState == "complete") document.title = "complete"; };
		c.createOffer().then(o => c.setLocalDescription(o));
		try { new WebTransport("https://%[1]s/").ready.catch(() => {}); } catch {}
		</script>`, conn.LocalAddr()))
	k.call(t, "pw/navigate", args{"session": session, "url": address})
	wait.Until(t, "the end of the search for addresses", func() bool {
		return pageOf(t, k.call(t, "pw/content", args{"session": session}))["title"] == "complete"
	})
	_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, from, err := conn.ReadFrom(make([]byte, 1500)); err == nil {
		t.Errorf("%d bytes came from %v", n, from)
	}
}
