//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/gatewaycmd"
)

const (
	reloaded  = "has changed and was reloaded: 1 upstream"
	refusal   = "the configuration has changed but cannot be used; still running the previous one"
	aboveOnce = 1500 * time.Millisecond // longer than a change takes to be noticed
)

// mode returns the mode of the upstream as the gateway reports it.
func (g *gate) mode(t *testing.T) string {
	t.Helper()
	var status gatewaycmd.GatewayStatus
	if err := json.Unmarshal([]byte(g.look(t, "/status")), &status); err != nil {
		t.Fatal(err)
	}
	return status.Upstreams[0].Mode
}

func TestGatewayReloadsAChangedFile(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	for name, write := range map[string]func(t *testing.T, g *gate, text string){
		"replaced by rename": func(t *testing.T, g *gate, text string) { t.Helper(); g.write(t, text) },
		"written in place": func(t *testing.T, g *gate, text string) {
			t.Helper()
			if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"removed and created again": func(t *testing.T, g *gate, text string) {
			t.Helper()
			if err := os.Remove(g.config); err != nil {
				t.Fatal(err)
			}
			g.write(t, text)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t, configText(web.URL, ""))
			began := time.Now()
			write(t, g, configText(web.URL, "    mode: strict\n"))
			g.said.await(reloaded, 1)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if mode := g.mode(t); mode != "strict" {
				t.Errorf("the mode is %s", mode)
			}
		})
	}
}

// Kubernetes mounts a ConfigMap as links: candor.yaml to ..data/candor.yaml, and ..data to a folder that an update replaces.
func TestGatewayReloadsAFileBehindASwappedLink(t *testing.T) {
	t.Parallel()
	web, dir := newWebServer(t), t.TempDir()
	version := func(name, settings string) {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "candor.yaml"), []byte(configText(web.URL, settings)), 0o600); err != nil {
			t.Fatal(err)
		}
		next := filepath.Join(dir, "..data_tmp")
		if err := os.Symlink(name, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	version("..v1", "")
	file := filepath.Join(dir, "candor.yaml")
	if err := os.Symlink(filepath.Join("..data", "candor.yaml"), file); err != nil {
		t.Fatal(err)
	}
	g := gateAt(t, file)
	version("..v2", "    mode: strict\n")
	g.said.await(reloaded, 1)
	if mode := g.mode(t); mode != "strict" {
		t.Errorf("the mode is %s", mode)
	}
}

func TestGatewayReloadsAChangedProfile(t *testing.T) {
	t.Parallel()
	g := &gate{config: filepath.Join(t.TempDir(), "candor.yaml")}
	profile := filepath.Join(filepath.Dir(g.config), "it.profile.yaml")
	if err := os.WriteFile(profile, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.write(t, configText(newWebServer(t).URL, "    profile: it.profile.yaml\n"))
	g = gateAt(t, g.config)
	if err := os.WriteFile(profile, []byte("version: 1\nmaks: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.said.await(refusal, 1)
	if err := os.WriteFile(profile, []byte("version: 1\nmasks: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.said.await(reloaded, 1)
}

func TestGatewayKeepsTheConfigurationWhileTheFileIsBroken(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newGate(t, configText(web.URL, ""))
	broken := configText(web.URL, "    mode: strct\n    tiemout: 3s\n")
	if err := os.WriteFile(g.config, []byte(broken[:len(broken)-4]), 0o600); err != nil { // half-written
		t.Fatal(err)
	}
	g.said.await(refusal, 1)
	if text, err := g.call(t.Context(), 1, "echo"); err != nil || !strings.Contains(text, "fine") {
		t.Errorf("answered %s, %v", text, err)
	}
	if text := printed(t, "gateway", "status", "--admin", strings.TrimPrefix(g.admin, "http://")); !strings.Contains(text, "is in use, because the file has a mistake: ") {
		t.Errorf("the status is %s", text)
	}
	if err := os.Chtimes(g.config, time.Now(), time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(aboveOnce)
	said := g.said.String()
	if n := strings.Count(said, refusal); n != 1 {
		t.Errorf("%d warnings: %s", n, said)
	}
	if !regexp.MustCompile(`level=WARN .*reason="\S+candor\.yaml:\d+:\d+: .*hint=.* moreProblems=1`).MatchString(said) {
		t.Errorf("the warning is %s", said)
	}
	g.write(t, configText(web.URL, "    mode: strict\n"))
	g.said.await(reloaded, 1)
	var status gatewaycmd.GatewayStatus
	if err := json.Unmarshal([]byte(g.look(t, "/status")), &status); err != nil || status.Config.Problem != nil || status.Upstreams[0].Mode != "strict" || !status.Config.Watched {
		t.Errorf("%+v, %v", status, err)
	}
}

func TestGatewayWatchCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	byFlag := &gate{config: filepath.Join(t.TempDir(), "candor.yaml")}
	byFlag.write(t, configText(web.URL, ""))
	byFlag = gateAt(t, byFlag.config, "--watch=false")
	byFile := newGate(t, "watch: false\n"+configText(web.URL, ""))
	byFlag.write(t, configText(web.URL, "    mode: strict\n"))
	byFile.write(t, configText(web.URL, "    mode: strict\n"))
	time.Sleep(aboveOnce)
	for _, g := range []*gate{byFlag, byFile} {
		if mode := g.mode(t); mode != "annotate" {
			t.Errorf("the mode is %s", mode)
		}
		g.signal(syscall.SIGHUP)
		g.said.await("was reloaded: 1 upstream", 1)
	}
	byFlag.write(t, configText(web.URL, "    mode: observe\n"))
	byFile.write(t, configText(web.URL, "    mode: observe\n")) // watched now: the file does not say otherwise
	byFile.said.await(reloaded, 1)
	if mode := byFlag.mode(t); mode != "strict" {
		t.Errorf("the mode is %s", mode)
	}
}
