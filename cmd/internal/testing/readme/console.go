package readme

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// Console is a running candor console over a ledger with sample failures.
type Console struct {
	Address string
	Page    []byte // its first page, without the parts that differ in every run
	dir     string
	cmd     *exec.Cmd
}

// Close ends the command and removes the ledger.
func (c *Console) Close() {
	if c.cmd.Process != nil {
		_ = c.cmd.Process.Kill() // it has nothing to save
		_ = c.cmd.Wait()
	}
	_ = os.RemoveAll(c.dir)
}

// changing are the parts of the page that differ in every run: the ids of chains, the folder, and the version of the program. The names
// of the style and script contain their hashes, so the page changes with them.
var changing = regexp.MustCompile(`sample-[0-9A-Za-z]+-[0-9a-f]+|<code id="ledger-dir">[^<]*</code>|candor [^ ·]* ·|, verified [0-9:]+`)

// OpenConsole writes the ledger and starts the command.
func (r Repository) OpenConsole(ctx context.Context) (c *Console, err error) {
	dir, err := os.MkdirTemp("", "candor-readme-")
	if err != nil {
		return nil, err
	}
	trail := filepath.Join(dir, "ledger")
	c = &Console{dir: dir, cmd: exec.CommandContext(ctx, r.Candor, "console", trail, "--listen", "127.0.0.1:0")}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := writeSample(ctx, trail); err != nil {
		return nil, fmt.Errorf("writing the ledger of the picture: %w", err)
	}
	out, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "console on "); ok {
			c.Address = address
			c.Page, err = verifiedPage(ctx, address)
			return c, err
		}
	}
	return nil, errors.New("candor console: it ended without printing its address")
}

// verifiedPage returns the page as soon as the ledger is verified.
func verifiedPage(ctx context.Context, address string) ([]byte, error) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		page, err := get(ctx, address)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(page), "Record whole") {
			return changing.ReplaceAll(page, []byte("…")), nil
		}
		if time.Now().After(deadline) {
			return nil, errors.New("candor console: the ledger was not verified in 20 seconds")
		}
	}
}

func get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, 4<<20))
}

// sampleFailure is a failure that the picture shows; every is the number of minutes between two of them.
type sampleFailure struct {
	server, tool, said string
	verdict            string
	code               candor.Code
	latency            time.Duration
	every              int
}

var sampleFailures = []sampleFailure{
	{"orders", "search_orders", "The arguments do not fit the tool.", "tool", candor.CodeInvalidArguments, 2 * time.Millisecond, 31},
	{"orders", "get_invoice", "Invoice 7 does not exist", "masked", candor.CodeNotFound, 9 * time.Millisecond, 73},
	{"orders", "list_customers", "connect ECONNREFUSED db.internal:5432", "tool", candor.CodeUpstreamUnreachable, 41 * time.Millisecond, 97},
	{"weather", "forecast", "Request failed with status code 429, retry-after: 2", "masked", candor.CodeUpstreamRateLimited, 180 * time.Millisecond, 11},
	{"weather", "forecast", "The call did not finish before its deadline.", "lost", candor.CodeCallTimeout, 30 * time.Second, 61},
	{"files", "read_file", "ENOENT: no such file or directory, open 'notes.md'", "tool", candor.CodeNotFound, time.Millisecond, 43},
	{"files", "write_file", "EACCES: permission denied, open 'report.csv'", "tool", candor.CodePermissionDenied, time.Millisecond, 127},
}

// writeSample writes the failures of one day.
func writeSample(ctx context.Context, dir string) (err error) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	now := begin
	l, err := ledger.Open(dir, ledger.Options{Instance: "sample", Clock: func() time.Time { return now }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for minute := range 24 * 60 {
		now = begin.Add(time.Duration(minute) * time.Minute)
		for i := range sampleFailures {
			f := &sampleFailures[i]
			if (minute+7*i)%f.every != 0 || f.server == "weather" && (minute < 9*60 || minute > 17*60) {
				continue
			}
			ref := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, minute, i)))[:20]
			e := candor.New(f.code, f.said, candor.WithTool(f.tool), candor.WithOrigin(candor.PartyTool, true), candor.WithRef(ref))
			if _, err := l.Append(ctx, ledger.FailureEntry(candor.Failure{
				Error: e, Method: "tools/call", Verdict: f.verdict, Latency: f.latency, Attempt: 1, Upstream: f.server,
			})); err != nil {
				return err
			}
		}
	}
	return nil
}
