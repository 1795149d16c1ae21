package realservers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
	"github.com/candor-mcp/candor/ledger"
)

// Trial has the programs and directories needed to ask servers.
type Trial struct {
	Box     conformance.Toolbox
	Candor  string   // path of the candor command
	Dir     string   // directory for grounds and ledgers
	Offline []string // from [Offline]
}

// Ask asks one server directly, through the gateway, and directly again. It returns an error if the server is missing
// or does not start. Problems with answers and leftover processes are in the account.
func (t Trial) Ask(ctx context.Context, s Server) (Account, error) {
	account := Account{Outcome: Outcome{Name: s.Name, Version: s.Version}}
	ground := NewGround(t.Dir)
	line, err := s.Command(ctx, t.Box, ground.dir)
	if err != nil {
		return account, err
	}
	line = slices.Concat(t.Offline, line)
	trail, err := os.MkdirTemp(t.Dir, "trail-")
	if err != nil {
		return account, err
	}
	// Behind the gateway, the server's output is copied to a file.
	written := filepath.Join(trail, "written")
	wrapped := slices.Concat([]string{t.Candor, "wrap", "--quiet", "--ledger", filepath.Join(trail, "ledger"), "--",
		"sh", "-c", `"$@" | tee "$0"`, written}, line)

	// The gateway's turn is between the two direct ones, so that a time that is equal in both is equal in it too.
	turns := []struct {
		how  string
		line []string
	}{{"directly", line}, {"through the gateway", wrapped}, {"directly again", line}}
	var cases []Case
	var heard [3][]Answer
	for i, turn := range turns {
		if err := ground.prepare(); err != nil {
			return account, err
		}
		cases, heard[i], err = converse(ctx, ground.command(turn.line, s.Env), func(tools []tool) []Case {
			account.Tools = len(tools)
			return slices.Concat(s.cases(ground.dir), protocolCases(), badArguments(tools, s.Careful))
		})
		if err != nil {
			return account, fmt.Errorf("%s, %s: %w", s.Name, turn.how, err)
		}
		for _, left := range ground.Leftovers() {
			account.problem("left behind %s", left)
		}
	}
	if len(heard[0]) != len(heard[2]) || len(heard[1]) != len(heard[2]) {
		return account, fmt.Errorf("%s lists different tools each time", s.Name)
	}
	said, err := readAnswers(written)
	if err != nil {
		return account, err
	}
	for i, c := range cases {
		x := Exchange{Case: c, Written: said[string(heard[1][i].message.ID())], Direct: heard[0][i], Through: heard[1][i], Again: heard[2][i]}
		account.add(x, ground.hide)
	}
	return account, account.holdAgainst(ctx, filepath.Join(trail, "ledger"))
}

// holdAgainst checks that every failure that was answered is in the ledger exactly once.
func (a *Account) holdAgainst(ctx context.Context, trail string) error {
	reader, err := ledger.OpenReader(trail)
	if err != nil {
		return err
	}
	recorded := map[string]int{}
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{}) {
		if err != nil {
			return errors.Join(err, reader.Close())
		}
		if record, err := line.Record(); err == nil && record.Kind == ledger.KindFailure {
			recorded[record.Ref]++
		}
	}
	for _, c := range a.Cases {
		if c.ref != "" && recorded[c.ref] != 1 {
			a.problem("%s %s is in the ledger %d times", c.Case, c.Tool, recorded[c.ref])
		}
	}
	return reader.Close()
}
