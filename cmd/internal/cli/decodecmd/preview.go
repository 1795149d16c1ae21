package decodecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/preview"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/wire"
)

// previewCommand has the flags of `candor preview`.
type previewCommand struct {
	env *term.Env
	cmd *cobra.Command

	client, ledger string
	json           bool
}

// previewOutput is the output of `candor preview --json`. The order of the members is part of the contract.
type previewOutput struct {
	*preview.Answer
	Views []preview.View `json:"views"`
}

const allClients = "all"

// NewPreview returns `candor preview`.
func NewPreview(env *term.Env) *cobra.Command {
	c := &previewCommand{env: env}
	c.cmd = &cobra.Command{
		Use:   "preview REF|FILE",
		Short: "Show what the model of each client reads of a failure",
		Long: `Show what each client program shows its model of a failure, and how many bytes: the answer with Candor in front of
the server, and the server's own answer, where it is known. Clients that show the same are named together. The
clients are those of spec/clients.json; "other" is any other client.

REF is a failure in the ledger, named as for candor ledger show. FILE, or - for standard input, is an answer: a
JSON-RPC response, the result in it, or {"request":…,"response":…,"tool":…} as candor decode reads it. A name that is
both a file and a ref is the file.

A failure in the ledger is shown as the client got it that made the call, and as other clients would have got it. For a
file the advice on retries is that for a tool which is not declared read-only.

With --json the output is one object with these members, in this order:

  ref, code, tool  the error and the tool, if known
  client           the client that made the call, if known
  unchanged        true if Candor passes the answer on unchanged: it did not fail, or is only suspected
  views            list of {"clients":…,"bytes":…,"text":…,"server":{"bytes":…,"text":…}}, each different view once;
                   the one of the client that made the call, or of "other", comes first`,
		Example: `  candor preview 6f1c9a
  candor preview 6f1c9a --client codex
  candor preview answer.json
  candor preview --json - < answer.json`,
		Args: term.OneArg("ref or file", "candor preview REF; candor ledger tail lists the last failures"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	names := []string{allClients, preview.Other}
	for _, known := range contract.Clients() {
		names = append(names, known.Name)
	}
	term.Choice(c.cmd, &c.client, "client", allClients, "only this client: "+strings.Join(names, ", "), names)
	c.cmd.Flags().StringVar(&c.ledger, "ledger", "", "folder of the ledger")
	c.cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return c.cmd
}

func (c *previewCommand) run(ctx context.Context, asked string) error {
	read := c.recorded
	if _, err := os.Stat(asked); err == nil || asked == "-" {
		read = c.file
	}
	answer, err := read(ctx, asked)
	if err != nil {
		return err
	}
	out := previewOutput{answer, answer.Views()}
	if c.client != allClients {
		out.Views = preview.Only(out.Views, c.client)
	}
	if c.json {
		return term.WriteJSONLine(c.env.Out, out)
	}
	c.write(&out)
	return nil
}

// recorded returns the preview of a failure in the ledger.
func (c *previewCommand) recorded(ctx context.Context, asked string) (*preview.Answer, error) {
	record, err := ledgercmd.Failure(ctx, c.env, c.ledger, asked)
	if e, ok := errors.AsType[*term.Error](err); ok {
		e.Hint += "; or name a file: this one does not exist"
	}
	if err != nil {
		return nil, err
	}
	answer, err := preview.OfRecord(record)
	if err != nil {
		return nil, term.BadInput("candor ledger show "+asked+" shows what was recorded", "%q: %s", asked, err)
	}
	return answer, nil
}

// file returns the preview of the answer in a file.
func (c *previewCommand) file(_ context.Context, name string) (*preview.Answer, error) {
	in, err := openSources(c.env, c.cmd, []string{name})[0].open()
	if err != nil {
		return nil, term.UnreadableFile(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(in, maxLine+1))
	if err != nil {
		return nil, term.UnreadableFile(err)
	}
	l := line{bytes: bytes.TrimPrefix(text, []byte("\ufeff")), number: 1, tooLong: len(text) > maxLine}
	ref := refOf(l.bytes)
	if v, err := parse(bytes.TrimSpace(l.bytes)); err == nil && isResult(v) {
		l.bytes = asResponse(v.Raw())
	}
	x, err := exchangeOf(l)
	if flaw := (wire.Malformation{}); errors.As(err, &flaw) {
		why, _ := whyNotJSON(err, l.bytes)
		return nil, term.BadInput("give a file with one answer; candor decode reads many", "%s: %s", name, why)
	}
	var answer *preview.Answer
	if err == nil {
		answer, err = preview.OfExchange(x, ref)
	}
	if err != nil {
		return nil, term.BadInput("give a JSON-RPC response, the result in it, or {\"request\":…,\"response\":…}", "%s: %s", name, err)
	}
	return answer, nil
}

// write prints the views for people.
func (c *previewCommand) write(out *previewOutput) {
	p := c.env.Colors()
	head := []string{"not a failure"}
	if out.Code != "" {
		head = []string{p.Bold(out.Code)}
	}
	for _, part := range [][2]string{{"tool", out.Tool}, {"ref", out.Ref}, {"called by", out.Client}} {
		if part[1] != "" {
			head = append(head, p.Faint(part[0])+" "+term.Printable(part[1]))
		}
	}
	fmt.Fprintln(c.env.Out, strings.Join(head, "  "))
	ours := "reads"
	if out.Passed {
		ours = "reads the server's answer unchanged"
	}
	for i := range out.Views {
		v := &out.Views[i]
		fmt.Fprintf(c.env.Out, "\n%s\n", p.Name(strings.Join(v.Titles, ", ")))
		c.writeShown(ours, v.Shown)
		if v.Server != nil {
			c.writeShown("without Candor", *v.Server)
		}
	}
}

func (c *previewCommand) writeShown(what string, s preview.Shown) {
	fmt.Fprintf(c.env.Out, "  %s\n", c.env.Colors().Faint(fmt.Sprintf("%s, %s:", what, plural.Of(s.Bytes, "byte"))))
	for line := range strings.Lines(s.Text) {
		fmt.Fprintf(c.env.Out, "    %s\n", term.Printable(strings.TrimRight(line, "\r\n")))
	}
}
