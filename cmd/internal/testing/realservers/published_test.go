package realservers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/internal/tools/conformance"
)

var (
	chosen   = flag.String("servers", "", `the servers to probe: "quick", "all", or the name of one`)
	install  = flag.Bool("install", false, "only fetch the servers")
	markdown = flag.String("markdown", "", "write the report to this file")
)

// TestPublishedServers puts published servers through `candor probe`: directly, behind `candor wrap` with the learnt profile, and directly
// again. It fails if a promise is broken.
//
//	go test ./cmd/internal/testing/realservers -run Published -v -args -servers quick             the few servers of every run
//	go test ./cmd/internal/testing/realservers -run Published -v -args -servers all -install      only fetch what is needed
//	go test ./cmd/internal/testing/realservers -run Published -v -args -servers all -markdown FILE
func TestPublishedServers(t *testing.T) {
	if *chosen == "" {
		t.Skip("only with the flag -servers")
	}
	box, err := conformance.OpenToolbox()
	if err != nil {
		t.Fatal(err)
	}
	if *install {
		if err := box.Fetch(t.Context(), t.Logf, packages()...); err != nil {
			t.Fatal(err)
		}
		return
	}
	all, work := prepare(t, box)
	all.Servers = audits(t, work)
	if *markdown != "" {
		if err := os.WriteFile(*markdown, []byte(all.Markdown()), 0o600); err != nil {
			t.Error(err)
		}
	}
	if broken := all.Broken(); len(broken) > 0 {
		t.Errorf("%d promises failed:\n%s", len(broken), strings.Join(broken, "\n"))
	}
}

func chosenServers() (list []Server) {
	for _, s := range Servers {
		if *chosen == s.Name || *chosen == "all" || *chosen == "quick" && s.Quick {
			list = append(list, s)
		}
	}
	return list
}

func packages() (list []conformance.Package) {
	for _, s := range chosenServers() {
		list = append(list, s.Package)
	}
	return list
}

// prepare builds the candor command and returns a report with the versions in use.
func prepare(t *testing.T, box conformance.Toolbox) (all Audits, work Probing) {
	candor, err := candorOnce()
	if err != nil {
		t.Fatal(err)
	}
	node, err := box.Node(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	work = Probing{Box: box, Candor: candor}
	if work.Successes, err = LoadRecordings(corpus.Successes); errors.Is(err, corpus.ErrAbsent) {
		t.Logf("no recorded successes: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return Audits{
		Date:   time.Now().UTC().Format(time.DateOnly),
		Candor: strings.TrimPrefix(firstLine(t, candor, "version"), "candor "),
		Node:   firstLine(t, node, "--version"),
	}, work
}

func firstLine(t *testing.T, command ...string) string {
	text, err := exec.CommandContext(t.Context(), command[0], command[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line
}

// atOnce is the number of servers probed concurrently. Most of the time is spent waiting for answers that do not
// arrive.
const atOnce = 3

func audits(t *testing.T, work Probing) []Audit {
	servers := chosenServers()
	if len(servers) == 0 {
		t.Fatalf("unknown server %q", *chosen)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // a server takes seconds
	defer cancel()
	all := make([]Audit, len(servers))
	var running sync.WaitGroup
	free := make(chan struct{}, atOnce)
	dir := t.TempDir()
	for i, s := range servers {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			own := filepath.Join(dir, fmt.Sprintf("server-%d", i))
			err := os.Mkdir(own, 0o700)
			if err == nil {
				all[i], err = work.Probe(ctx, s, own)
			}
			if err != nil {
				all[i].Name, all[i].Version, all[i].Absent = s.Name, s.Version, err.Error()
			}
			t.Log(all[i].String())
		})
	}
	running.Wait()
	return all
}
