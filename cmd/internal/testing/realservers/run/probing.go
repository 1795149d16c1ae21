package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
	"github.com/candor-mcp/candor/cmd/internal/testing/realservers"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// probe runs `candor probe` on every server and prints each audit when it is complete.
func (c *choice) probe(ctx context.Context, box conformance.Toolbox, servers []realservers.Server, dir string, out io.Writer) error {
	candor, versions, err := prepared(ctx, box, dir)
	if err != nil {
		return err
	}
	work := realservers.Probing{Box: box, Candor: candor}
	for name, into := range map[string]*realservers.Recordings{corpus.Failures: &work.Recordings, corpus.Successes: &work.Successes} {
		if *into, err = realservers.LoadRecordings(name); errors.Is(err, corpus.ErrAbsent) {
			fmt.Fprintf(out, "nothing is compared with %s: %v\n", name, err)
		} else if err != nil {
			return err
		}
	}
	all := realservers.Audits{Versions: versions}
	if all.Servers, err = audits(ctx, work, servers, dir, out); err != nil {
		return err
	}
	if sum, ok := all.Agreement(); ok {
		fmt.Fprintf(out, "labels: %d of %d calls in common agree with the corpus, %.2f %%; %d are aside\n", sum.Agreed, sum.Common, sum.Percent(), sum.Aside)
	}
	err = errors.Join(write(c.markdown, all.WriteMarkdown), writeJSON(c.programs, all))
	if broken := all.Broken(); len(broken) > 0 {
		err = errors.Join(err, fmt.Errorf("%d promises failed:\n%s", len(broken), strings.Join(broken, "\n")))
	}
	return err
}

// atOnce is the number of servers probed concurrently. Most of the time is spent waiting for answers that do not
// arrive.
const atOnce = 3

func audits(ctx context.Context, work realservers.Probing, servers []realservers.Server, dir string, out io.Writer) ([]realservers.Audit, error) {
	all := make([]realservers.Audit, len(servers))
	done := make([]error, len(servers))
	var running sync.WaitGroup
	var printing sync.Mutex
	places := make(chan struct{}, atOnce)
	for i, s := range servers {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			own := filepath.Join(dir, fmt.Sprintf("server-%d", i))
			if done[i] = os.Mkdir(own, 0o700); done[i] != nil {
				return
			}
			audit, err := work.Probe(ctx, s, own)
			if err != nil {
				audit.Absent = err.Error()
			}
			all[i] = audit
			printing.Lock()
			defer printing.Unlock()
			done[i] = audit.Print(out)
		})
	}
	running.Wait()
	return all, errors.Join(done...)
}
