package browser

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/internal/scratch"
	"github.com/chromedp/cdproto"
)

// names lists the program names of Chromium, in the order in which they are tried.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"}

// errNotInstalled is the error of find.
var errNotInstalled = errors.New("no Chromium found")

// find returns the path of the Chromium to use.
func find(path string) (string, error) {
	candidates := names
	if path != "" {
		candidates = []string{path}
	}
	if runtime.GOOS == "windows" {
		return "", errNotInstalled // the pipe to Chromium needs a POSIX shell
	}
	for _, name := range candidates {
		if found, err := exec.LookPath(name); err == nil {
			return filepath.Abs(found)
		}
	}
	return "", errNotInstalled
}

// Limits of the processes of a Chromium.
const (
	heapMB          = 512     // of the scripts of one page
	maxFile         = 1 << 30 // bytes of one file, or one piece of shared memory
	maxData         = 8 << 30 // bytes of private memory of one process; Chromium reserves far more than it uses
	maxOutput       = 16 << 10
	memoryInterval  = 500 * time.Millisecond
	removalPatience = 5 * time.Second
)

// chromium is a running Chromium.
type chromium struct {
	client  *client
	process *guard.Process
	dir     *scratch.Dir
	profile string // the path of dir
	output  *tailBuffer

	overMemory atomic.Bool // it was stopped because of its memory use
}

// pipeScript starts a program with its standard input and output as file descriptors 3 and 4, which Chromium uses for
// its pipe.
const pipeScript = `exec 3<&0 4>&1 </dev/null >&2; exec "$0" "$@"`

// start starts a Chromium that sends all its traffic to proxyAddress.
func start(c Config, path, proxyAddress string, onEvent func(*cdproto.Message)) (*chromium, error) {
	dir, err := scratch.New(profileRoot(), profilePrefix)
	if err != nil {
		return nil, err
	}
	b := &chromium{dir: dir, profile: dir.Path, output: &tailBuffer{}}
	if err := b.start(c, path, proxyAddress, onEvent); err != nil {
		return nil, errors.Join(err, b.removeProfile())
	}
	go b.watch(c.MaxMemory)
	return b, nil
}

func (b *chromium) start(c Config, path, proxyAddress string, onEvent func(*cdproto.Message)) error {
	var err error
	var pipes [6]*os.File // read and write end of commands, of results, of output
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			closeAll(pipes[:i])
			return err
		}
	}
	args := append([]string{"-c", pipeScript, path}, flags(b.profile, proxyAddress, os.Getuid() == 0)...)
	cmd := exec.Command("/bin/sh", args...) //nolint:noctx // it lives as long as its session
	cmd.Dir, cmd.Env = b.profile, environment(b.profile)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0], pipes[3], pipes[5]
	b.process, err = guard.Start(cmd, guard.Options{Self: c.Guard, Limits: guard.Limits{Data: maxData, File: maxFile}, Hold: b.dir.Held()})
	closeAll([]*os.File{pipes[0], pipes[3], pipes[5]}) // Chromium has its own copies
	if err != nil {
		closeAll([]*os.File{pipes[1], pipes[2], pipes[4]})
		return err
	}
	go func() {
		_, _ = io.Copy(b.output, pipes[4])
		_ = pipes[4].Close()
	}()
	b.client = newClient(pipes[2], pipes[1], onEvent)
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// environment returns the environment of Chromium. It does not contain this process's variables, which may be secret.
// Chromium writes only to its profile.
func environment(profile string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + profile, "TMPDIR=" + profile, "XDG_CONFIG_HOME=" + profile,
		"XDG_CACHE_HOME=" + profile, "XDG_DATA_HOME=" + profile, "XDG_RUNTIME_DIR=" + profile,
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/dev/null", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null",
	}
}

// flags returns the command line of Chromium.
func flags(profile, proxyAddress string, root bool) []string {
	all := []string{
		"--headless=new", "--remote-debugging-pipe", "--no-startup-window", "--user-data-dir=" + profile,
		"--no-first-run", "--no-default-browser-check", "--disable-gpu", "--disable-3d-apis", "--mute-audio", "--hide-scrollbars",
		"--disable-dev-shm-usage", "--disable-extensions", "--disable-default-apps", "--disable-sync", "--disable-breakpad",
		"--disable-notifications", "--deny-permission-prompts", "--disable-file-system", "--disable-speech-api", "--disable-presentation-api",
		"--noerrdialogs", "--password-store=basic", "--use-mock-keychain", "--disable-search-engine-choice-screen",

		// Only requests of pages are sent, and all of them through the proxy.
		"--proxy-server=http://" + proxyAddress, "--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--disable-quic", "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--disable-background-networking", "--disable-component-update", "--disable-client-side-phishing-detection",
		"--disable-domain-reliability", "--disable-field-trial-config", "--no-pings", "--metrics-recording-only", "--dns-prefetch-disable",
		"--safebrowsing-disable-auto-update",
		"--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate," +
			"AutofillServerCommunication,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying," +
			"WebRtcHideLocalIpsWithMdns",

		fmt.Sprintf("--js-flags=--max-old-space-size=%d", heapMB), "--renderer-process-limit=4", "--disk-cache-size=1", "--media-cache-size=1",
	}
	if root {
		all = append(all, "--no-sandbox") // Chromium refuses to start as root with its sandbox
	}
	return all
}

// watch stops Chromium when it uses too much memory.
func (b *chromium) watch(limit int64) {
	tick := time.NewTicker(memoryInterval)
	defer tick.Stop()
	for {
		select {
		case <-b.process.Done():
			return
		case <-tick.C:
			if b.process.Memory() > limit {
				b.overMemory.Store(true)
				b.process.Kill()
				return
			}
		}
	}
}

// browser returns the endpoint for commands to the browser itself.
func (b *chromium) browser() endpoint { return endpoint{client: b.client} }

// close ends Chromium, waits until all its processes have ended and removes its profile.
func (b *chromium) close() error {
	b.process.Kill()
	<-b.process.Done()
	_ = b.client.conn.Close()
	return b.removeProfile()
}

func (b *chromium) removeProfile() error {
	defer b.dir.Release()
	for end := time.Now().Add(removalPatience); ; time.Sleep(10 * time.Millisecond) {
		err := os.RemoveAll(b.profile)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// tailBuffer keeps the last bytes that are written to it.
type tailBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (t *tailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - maxOutput; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(b), nil
}

// String returns the kept bytes on one line.
func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(string(t.text)), " ")
}

// profilePrefix is the prefix of profile names, which are temporary directories. The guard of a Chromium holds the lock
// of its profile.
const profilePrefix = "candor-browser-"

// profileRoot returns the directory for profiles. Chromium creates a socket below its profile, and the system limits
// the length of a socket path.
func profileRoot() string {
	if root := os.TempDir(); len(root) <= 30 || runtime.GOOS == "windows" {
		return root
	}
	return "/tmp"
}
