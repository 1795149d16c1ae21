package fake_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/fake"
	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

// Client programs in other languages. Each retries once if the first attempt fails.
const (
	nodeAsks = `
const ask = async () => {
  try {
    const r = await fetch("https://api.example.com/v1", {signal: AbortSignal.timeout(+process.argv[1])});
    const text = await r.text();
    return r.status + " retry=" + r.headers.get("retry-after") + " " + text;
  } catch (e) { return String(e.name) + " " + String(e.cause && (e.cause.code || e.cause)); }
};
ask().then(async first => { console.log(first); console.log(await ask()); });`
	pythonAsks = `
import ssl, sys, urllib.error, urllib.request
def ask():
    try:
        with urllib.request.urlopen("https://api.example.com/v1", timeout=float(sys.argv[1]) / 1000) as r:
            return "%d retry=None %s" % (r.status, r.read().decode("utf-8", "replace"))
    except urllib.error.HTTPError as e:
        return "%d retry=%s %s" % (e.code, e.headers["retry-after"], e.read().decode())
    except Exception as e:
        return "%s %s" % (type(e).__name__, e)
print(ask()); print(ask())`
)

// interpreters returns the command line of each installed interpreter, to which a script is appended.
func interpreters(t *testing.T) map[string][]string {
	found := map[string][]string{}
	box, err := conformance.OpenToolbox()
	if err != nil {
		t.Fatal(err)
	}
	if node, err := box.Node(t.Context()); err == nil {
		found["node"] = []string{node, "-e", nodeAsks}
	} else if node, err := exec.LookPath("node"); err == nil {
		found["node"] = []string{node, "-e", nodeAsks}
	}
	if python, err := exec.LookPath("python3"); err == nil {
		found["python"] = []string{python, "-c", pythonAsks}
	}
	return found
}

func TestProgramsInOtherLanguagesSeeTheFault(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	clients := interpreters(t)
	if len(clients) == 0 {
		t.Log("there is neither Node nor Python here")
	}
	seen := map[string]string{
		fake.Down: "REFUSED", fake.Unauthorized: "401 ", fake.RateLimited: "429 retry=17 ", fake.Broken: "500 ", fake.LoginPage: "Sign in",
		fake.Garbage: "<<<garbage>>>", fake.Slow: "TIMEOUT",
	}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			for fault, want := range seen {
				patience := "5000"
				if fault == fake.Slow {
					patience = "300"
				}
				line := up.Wrap(append(append([]string{}, client...), patience))
				cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
				cmd.Env = append(os.Environ(), up.Environ()...)
				up.Begin(fault)
				out, err := cmd.CombinedOutput()
				hits, last := up.End(), up.Last()
				if got := strings.ToUpper(strings.ReplaceAll(string(out), "timed out", "timeout")); err != nil || strings.Count(got, strings.ToUpper(want)) < 2 {
					t.Errorf("%s: got %q, %v; want %q twice", fault, out, err, want)
				}
				if fault == fake.Slow {
					continue // on a busy machine it may time out before it has sent the request
				}
				if hits != 2 || last.Lookups == 0 || last.Untrusted != 0 {
					t.Errorf("%s: %d hits, %+v; want 2", fault, hits, last)
				}
			}
		})
	}
}
