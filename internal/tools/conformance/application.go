package conformance

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
)

//go:embed clients/look.mjs clients/v1.mjs clients/v2.mjs
var clientScripts embed.FS

// Client is an official TypeScript client for one protocol version.
type Client struct {
	Package Package
	Version string // protocol version
	script  string
	pin     string // the only version to accept; if empty, the client negotiates one in a handshake
}

// The clients. Only the second generation supports the protocol without a handshake.
var (
	V1       = Client{Package: ClientV1, Version: "2025-11-25", script: "v1.mjs"}
	V2Legacy = Client{Package: ClientV2, Version: "2025-11-25", script: "v2.mjs"}
	V2Modern = Client{Package: ClientV2, Version: "2026-07-28", script: "v2.mjs", pin: "2026-07-28"}
)

// Door is how a client reaches a server: a URL, or a command to start.
type Door struct {
	URL     string
	Command []string
	Env     []string // of the command, in addition to the environment of this process
}

// Call is one tool call of an application.
type Call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	Echo      []string       `json:"echo,omitempty"` // arguments copied from an earlier structured result
}

// View holds the tools of a server and the outcome of each call, as an application sees them.
type View struct {
	Tools []json.RawMessage `json:"tools"`
	Calls []Sight           `json:"calls"`
}

// Sight is the outcome of one call: a result, or an exception that the client threw.
type Sight struct {
	Tool       string          `json:"tool"`
	IsError    bool            `json:"isError"`
	Text       string          `json:"text"` // text of the first block
	Structured json.RawMessage `json:"structured"`
	Thrown     *Thrown         `json:"thrown"`
	Error      json.RawMessage `json:"error"`  // the canonical error, from any carrier
	Result     json.RawMessage `json:"result"` // the whole result
}

// Thrown is an exception of a client. The code is the JSON-RPC code, 0 if there is none.
type Thrown struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Application is a small program around an official client.
type Application struct {
	client  Client
	command []string
}

// Application writes the program to dir, which must be empty. The error is a [MissingError] if something is not
// installed.
func (b Toolbox) Application(ctx context.Context, c Client, dir string) (Application, error) {
	command, err := b.stage(ctx, c.Package, dir, clientScripts.ReadFile, "clients/"+c.script, "clients/look.mjs")
	return Application{c, command}, err
}

// Look makes the application list the tools of the server and then make the calls in order.
func (a Application) Look(ctx context.Context, d Door, calls []Call) (View, error) {
	wanted, err := json.Marshal(calls)
	if err != nil {
		return View{}, err
	}
	args := append(slices.Clone(a.command[1:]), string(wanted))
	if d.URL != "" {
		args = append(args, "http", d.URL)
	} else {
		args = append(append(args, "stdio"), d.Command...)
	}
	cmd := exec.CommandContext(ctx, a.command[0], args...)
	cmd.Env = append(append(os.Environ(), d.Env...), "PROTOCOL="+a.client.pin)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return View{}, fmt.Errorf("%s: %w\n%s", a.client.script, err, complaints.Bytes())
	}
	var seen View
	if err := json.Unmarshal(out, &seen); err != nil {
		return View{}, fmt.Errorf("%s: %w\n%s", a.client.script, err, out)
	}
	if len(seen.Calls) != len(calls) {
		return View{}, fmt.Errorf("%s: %d calls made, %d outcomes seen", a.client.script, len(calls), len(seen.Calls))
	}
	return seen, nil
}

// OkOrSkip stops a test if err is not nil: the test is skipped if something is not installed, and fails for any other
// error.
func OkOrSkip(t testing.TB, err error) {
	t.Helper()
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
}
