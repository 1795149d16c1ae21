package realservers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/tools/conformance"
	"github.com/candor-mcp/candor/wire"
)

// The official everything server uses all features of the protocol. The official clients must see the same through the
// gateway as directly, in every step; failures also carry the envelope.

func TestEverythingServerIsSeenThroughWrapAsItIs(t *testing.T) {
	b := newBench(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			look := b.observer(t, c)
			server := b.everything(t)
			direct := look(t, slices.Concat([]string{"stdio"}, server)...)
			trail := filepath.Join(t.TempDir(), "ledger")
			through := look(t, slices.Concat([]string{"stdio", b.candor, "wrap", "--quiet", "--ledger", trail, "--"}, server)...)
			sameSights(t, direct, through)
		})
	}
}

func TestEverythingServerIsSeenThroughTheGatewayAsItIs(t *testing.T) {
	b := newBench(t)
	server := b.everything(t)
	address, stop, err := conformance.Serve(t.Context(), func(address string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), server[0], append(server[1:], "streamableHttp")...)
		cmd.Env = append(os.Environ(), "PORT="+address[strings.LastIndex(address, ":")+1:])
		return cmd
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	url := "http://" + address + "/mcp"
	behind, stopGateway, err := conformance.ServeGateway(t.Context(), b.candor, url, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stopGateway()
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			look := b.observer(t, c)
			sameSights(t, look(t, "http", url), look(t, "http", behind))
		})
	}
}

// officialClient is one generation of the official client.
type officialClient struct {
	name   string
	from   conformance.Package
	script string
}

var clients = []officialClient{
	{"v1", conformance.ClientV1, "everything-v1.mjs"},
	{"v2", conformance.ClientV2, "everything-v2.mjs"},
}

// sight is the outcome of one step for the application.
type sight struct {
	Value  json.RawMessage `json:"value"`
	Thrown *struct {
		Code    int                        `json:"code"`
		Message string                     `json:"message"`
		Data    map[string]json.RawMessage `json:"data"`
	} `json:"thrown"`
}

// additions lists the steps that fail, with the code that the gateway adds. Refused calls never reach the server, so
// there is no server text to compare.
var additions = map[string]struct {
	code    string
	refused bool
}{
	"resources/read, unknown": {code: "RESOURCE_NOT_FOUND"},
	"prompts/get, unknown":    {code: "PROMPT_NOT_FOUND"},
	"isError":                 {code: "INVALID_ARGUMENTS"},
	"unknown method":          {code: "METHOD_NOT_FOUND"},
	"bad arguments":           {code: "INVALID_ARGUMENTS", refused: true},
	"unknown tool":            {code: "TOOL_NOT_FOUND", refused: true},
}

func sameSights(t *testing.T, direct, through map[string]sight) {
	t.Helper()
	if len(direct) < 30 || len(direct) != len(through) {
		t.Fatalf("%d steps seen directly, %d through", len(direct), len(through))
	}
	for step, before := range direct {
		after := through[step]
		want, fails := additions[step]
		if fails {
			if code := takeEnvelope(t, &after, firstBlock(before)); code != want.code {
				t.Errorf("%s: the application reads %q, want %q", step, code, want.code)
			}
		}
		if want.refused {
			continue
		}
		if before.Thrown != nil && after.Thrown != nil && strings.Contains(after.Thrown.Message, innermost(before.Thrown.Message)) {
			after.Thrown.Message = before.Thrown.Message // in the readable block
		}
		if plain(t, before) != plain(t, after) {
			t.Errorf("%s\ndirectly %s\nthrough  %s", step, plain(t, before), plain(t, after))
		}
	}
}

// innermost returns the message of an error without the prefixes of the client.
func innermost(message string) string { return prefixes.ReplaceAllString(message, "") }

var prefixes = regexp.MustCompile(`^(MCP error -?\d+: )+`)

// firstBlock returns the first block of a result.
func firstBlock(s sight) json.RawMessage {
	var result struct{ Content []json.RawMessage }
	if json.Unmarshal(s.Value, &result) != nil || len(result.Content) == 0 {
		return nil
	}
	return result.Content[0]
}

// takeEnvelope removes the parts that the gateway adds to a failure and returns the error code. theirs is the first block that the server
// sent.
func takeEnvelope(t *testing.T, s *sight, theirs json.RawMessage) string {
	t.Helper()
	if s.Thrown != nil {
		raw := s.Thrown.Data[dialect.MetaKey]
		delete(s.Thrown.Data, dialect.MetaKey)
		if len(s.Thrown.Data) == 0 {
			s.Thrown.Data = nil
		}
		return readCode(t, raw)
	}
	var result struct {
		Meta    map[string]json.RawMessage `json:"_meta,omitempty"`
		Content []json.RawMessage          `json:"content"`
		IsError bool                       `json:"isError"`
	}
	if err := json.Unmarshal(s.Value, &result); err != nil || !result.IsError || len(result.Content) == 0 {
		t.Errorf("no failure: %s", s.Value)
		return ""
	}
	raw := result.Meta[dialect.MetaKey]
	result.Meta = nil
	var block, said struct{ Text string }
	if err := json.Unmarshal(result.Content[0], &block); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(theirs, &said); len(result.Content) == 1 && err == nil && strings.Contains(block.Text, said.Text) {
		result.Content[0] = theirs // the block repeats it, so it was left out
	} else {
		result.Content = result.Content[1:]
	}
	value, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	s.Value = value
	return readCode(t, raw)
}

func readCode(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		t.Errorf("there is no envelope: %v", err)
		return ""
	}
	e, err := dialect.ReadCandor(v)
	if err != nil {
		t.Errorf("the envelope cannot be read: %v", err)
		return ""
	}
	return e.Code().Symbol()
}

var (
	clock  = regexp.MustCompile(`\d{1,2}:\d\d:\d\d( [AP]M)?`)
	random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// plain returns a sight as normalized JSON, without the parts that differ in every run.
func plain(t *testing.T, s sight) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	text = random.ReplaceAll(clock.ReplaceAll(text, []byte("TIME")), []byte("ID"))
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(v); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// bench has the programs that these tests need, found or built once.
type bench struct {
	box    conformance.Toolbox
	candor string
}

// newBench skips the test if something is not installed, and names it.
func newBench(t *testing.T) bench {
	t.Helper()
	if testing.Short() {
		t.Skip("short: it builds our command and talks to a real server for seconds")
	}
	box, err := conformance.OpenToolbox()
	if err == nil {
		_, err = box.Modules(everythingServer().Package)
	}
	conformance.OkOrSkip(t, err)
	candor, err := candorOnce()
	if err != nil {
		t.Fatal(err)
	}
	return bench{box: box, candor: candor}
}

// buildDir is the directory in which the candor command is built, once for all tests.
var buildDir string

var candorOnce = sync.OnceValues(func() (string, error) { return conformance.BuildCandor(context.Background(), buildDir) })

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "realservers-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir) // a directory left in the temporary directory does no damage
	os.Exit(code)
}

func everythingServer() Server { return Servers[0] }

// everything returns the command line of the server.
func (b bench) everything(t *testing.T) []string {
	t.Helper()
	line, err := everythingServer().Command(t.Context(), b.box, t.TempDir())
	conformance.OkOrSkip(t, err)
	return line
}

// observer prepares a client and returns the function that runs it.
func (b bench) observer(t *testing.T, c officialClient) func(t *testing.T, args ...string) map[string]sight {
	t.Helper()
	command, err := b.box.Stage(t.Context(), c.from, t.TempDir(), filepath.Join("clients", c.script), filepath.Join("clients", "everything.mjs"))
	conformance.OkOrSkip(t, err)
	ground := NewGround(t.TempDir())
	return func(t *testing.T, args ...string) map[string]sight {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], args...)...)
		cmd.Env = append(os.Environ(), ground.Marker)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.script, err, complaints.Bytes())
		}
		if left := ground.Leftovers(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		var seen map[string]sight
		if err := json.Unmarshal(out, &seen); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return seen
	}
}
