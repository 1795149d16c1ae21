package boundary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/limits"
)

// driverError is the wrapper of a library. Its text was not written by the author of the handler.
type driverError struct{ err error }

func (e *driverError) Error() string { return "connect user=app host=10.0.0.7: " + e.err.Error() }
func (e *driverError) Unwrap() error { return e.err }

var errMissing = &fs.PathError{Op: "open", Path: "/home/ann/.profile", Err: syscall.ENOENT}

// authored lists errors with the messages that the model gets for them.
var authored = map[string]struct {
	err  error
	want string
}{
	"a wrapped cause":      {fmt.Errorf("loading profile: %w", errMissing), "loading profile: The file does not exist."},
	"no words":             {fmt.Errorf("%w", errMissing), "The file does not exist."},
	"no wrapper":           {errMissing, "The file does not exist."},
	"a relative path":      {&fs.PathError{Op: "open", Path: "zzz.md", Err: fs.ErrNotExist}, "zzz.md does not exist."},
	"a path that leaves":   {&fs.PathError{Op: "open", Path: "../x", Err: fs.ErrInvalid}, "../x is not a path that can be used here."},
	"a folder":             {fmt.Errorf("reading: %w", &fs.PathError{Op: "read", Path: "sub", Err: syscall.EISDIR}), "reading: sub is not a path"},
	"a host":               {&net.DNSError{Err: "no such host", Name: "db.example"}, "The host db.example could not be found."},
	"wrapped twice":        {fmt.Errorf("starting: %w", fmt.Errorf("loading profile: %w", errMissing)), "starting: loading profile: The file does not exist."},
	"words behind":         {fmt.Errorf("profile: %w (second try)", errMissing), "profile: The file does not exist. (second try)"},
	"two causes":           {fmt.Errorf("copying: %w, then %w", errMissing, context.DeadlineExceeded), "copying: The file does not exist., then No answer came in time."},
	"joined":               {errors.Join(fmt.Errorf("reading a: %w", errMissing), errors.New("b is empty")), "reading a: The file does not exist.; b is empty"},
	"a sentinel":           {fmt.Errorf("fetching weather: %w", context.DeadlineExceeded), "fetching weather: No answer came in time."},
	"an error of ours":     {fmt.Errorf("saving note: %w", candor.New(candor.CodeNotFound, "There is no note 7.")), "There is no note 7."},
	"a path in the words":  {fmt.Errorf("reading /home/ann/.profile: %w", errMissing), "reading …/.profile: The file does not exist."},
	"a secret in words":    {fmt.Errorf("password=hunter2-hunter2: %w", errMissing), "password=[redacted:password]: The file does not exist."},
	"a secret across":      {fmt.Errorf("postgres://app:s3cr3t-pw@%w", &net.DNSError{Err: "no such host", Name: "db"}), ""},
	"a library's words":    {fmt.Errorf("listing users: %w", &driverError{syscall.ECONNREFUSED}), "listing users: "},
	"a library alone":      {&driverError{syscall.ECONNREFUSED}, ""},
	"an unmapped errno":    {fmt.Errorf("reading disk: %w", &os.SyscallError{Syscall: "read", Err: syscall.EIO}), "reading disk: "},
	"very long words":      {fmt.Errorf("%s: %w", strings.Repeat("word ", 2000), errMissing), "word word"},
	"a code in the text":   {fmt.Errorf("tool: %w", errors.New("[FILE_NOT_FOUND] File not found: a.txt")), "tool: File not found: a.txt"},
	"the cause is quoted":  {fmt.Errorf("%v, because %w", errMissing, errMissing), "because The file does not exist."},
	"the text is left out": {fmt.Errorf("profile is missing%.0w", errMissing), "profile is missing"},
}

func TestAuthorsWordsAreShown(t *testing.T) {
	for name, row := range authored {
		t.Run(name, func(t *testing.T) {
			server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
			server.AddTool(&mcp.Tool{Name: "t", InputSchema: &jsonschema.Schema{Type: "object"}},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, row.err })
			got := converse(t, server, Options{Logger: quiet}).talk(eras[0], false,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
			e, _ := envelope(t, got.at("1"))
			if !strings.Contains(e.Message(), row.want) || len(e.Message()) > limits.Message {
				t.Errorf("the message is %q, want %q", e.Message(), row.want)
			}
			text, _ := got.at("1").Result().Path("content", 0, "text").Str()
			for _, hidden := range []string{"saving note", "/home/ann", "hunter2", "s3cr3t", "10.0.0.7", "no such file"} {
				if strings.Contains(text, hidden) {
					t.Errorf("the model is shown %q", text)
				}
			}
		})
	}
}

func TestHiddenErrorTextHidesTheAuthorsWords(t *testing.T) {
	b := New(Options{HideErrorText: true, Logger: quiet})
	if got := b.understand(authored["a wrapped cause"].err, candor.PartyTool, "").Message(); got != "The file does not exist." {
		t.Errorf("the message is %q", got)
	}
}
