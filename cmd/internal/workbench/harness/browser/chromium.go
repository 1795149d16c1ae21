package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/chromedp/chromedp"
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
	for _, name := range candidates {
		if found, err := exec.LookPath(name); err == nil {
			return filepath.Abs(found)
		}
	}
	return "", errNotInstalled
}

// profilePrefix is the prefix of profile names, which are temporary directories.
const profilePrefix = "candor-browser-"

// profileRoot returns the directory for profiles. Chromium creates a socket below its profile, and the system limits
// the length of a socket path.
func profileRoot() string {
	if root := os.TempDir(); len(root) <= 30 || runtime.GOOS == "windows" {
		return root
	}
	return "/tmp"
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

// heapMB is the limit for the scripts of one page.
const heapMB = 512

// options returns how to start a Chromium that sends all its traffic to a proxy.
func options(path, profile, proxyAddress string) []chromedp.ExecAllocatorOption {
	all := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoInheritEnv, chromedp.Env(environment(profile)...),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless,

		// Only requests of pages are sent, and all of them through the proxy.
		chromedp.ProxyServer("socks5://" + proxyAddress), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
		chromedp.Flag("webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("disable-features", "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,DialMediaRouteProvider,"+
			"OptimizationHints,Translate,AutofillServerCommunication,InterestFeedContentSuggestions,"+
			"CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,WebRtcHideLocalIpsWithMdns"),

		chromedp.Flag("js-flags", fmt.Sprintf("--max-old-space-size=%d", heapMB)), chromedp.Flag("renderer-process-limit", "4"),
		chromedp.Flag("disk-cache-size", "1"), chromedp.Flag("media-cache-size", "1"), chromedp.Flag("password-store", "basic"),
	}
	for _, name := range []string{
		"disable-gpu", "disable-3d-apis", "disable-dev-shm-usage", "disable-extensions", "disable-default-apps", "disable-sync", "disable-breakpad",
		"disable-notifications", "deny-permission-prompts", "disable-file-system", "disable-speech-api", "disable-presentation-api", "noerrdialogs",
		"use-mock-keychain", "disable-search-engine-choice-screen", "disable-quic", "disable-background-networking", "disable-component-update",
		"disable-client-side-phishing-detection", "disable-domain-reliability", "disable-field-trial-config", "no-pings", "metrics-recording-only",
		"dns-prefetch-disable", "safebrowsing-disable-auto-update",
	} {
		all = append(all, chromedp.Flag(name, true))
	}
	// Services of the browser itself, which it calls in spite of the switches above. Chromium refuses this port.
	for _, name := range []string{"gaia-url", "google-base-url", "google-apis-url", "apps-gallery-update-url"} {
		all = append(all, chromedp.Flag(name, "https://127.0.0.1:9"))
	}
	all = append(all, chromedp.Flag("component-updater", "url-source=https://127.0.0.1:9/"))
	return all
}
