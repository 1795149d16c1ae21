package stdio

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// TestSecretOfTheServerIsRedacted uses a server that reports the URL of its API in a failure and on its standard error. The URL
// holds a key under an unusual name.
func TestSecretOfTheServerIsRedacted(t *testing.T) {
	const secret, typed, password = "f00dbabe99", "sail?boat&77", "anchorage"
	script := `read -r line; printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no way to https://pier.example/?q=anchorage&zk=$PIER_API_KEY and ` +
		`/$PIER_USER/sail%3Fboat%2677\"}]}}"
		read -r line; echo "lost at zk=$PIER_API_KEY" >&2; exit 3`
	for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict, gateway.ModeObserve} {
		t.Run(string(mode), func(t *testing.T) {
			child := Child{
				Command: "sh", Args: []string{"-c", script, "--moor-token", typed}, Grace: time.Second,
				Env: append(os.Environ(), "PIER_API_KEY="+secret, "PIER_PASSWORD="+password, "PIER_USER=captain-of-many-boats"),
			}
			s := wrapped(t, gateway.Options{Mode: mode}, child)
			s.call(1, "moor", `{}`)
			failed := s.answer("1")
			s.call(2, "moor", `{}`)
			gone := s.answer("2")
			for _, said := range []string{failed, gone} {
				if told := strings.Contains(said, secret) || strings.Contains(said, "sail%3F"); told != (mode == gateway.ModeObserve && said == failed) {
					t.Errorf("a secret is told (%v): %s", told, said)
				}
			}
			// Other text is kept: redacting a password that is an ordinary word would remove it from every sentence.
			if mode == gateway.ModeAnnotate && (!strings.Contains(failed, "q=anchorage") || !strings.Contains(failed, "captain-of-many-boats")) {
				t.Errorf("too much is hidden: %s", failed)
			}
		})
	}
}

// TestSecretsOfTheEnvironmentStayOutOfStderrLogsAndStrays uses a server that prints its key on standard error, on standard
// output, and in an answer to no call.
func TestSecretsOfTheEnvironmentStayOutOfStderrLogsAndStrays(t *testing.T) {
	const secret = "f00dbabe99"
	script := `echo "boot zk=$PIER_API_KEY" >&2; echo "listening with $PIER_API_KEY"
		printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{\"zk\":\"$PIER_API_KEY\"}}"
		read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'; read -r line`
	stderr := &gatewaytest.LockedBuffer{}
	child := Child{
		Command: "sh", Args: []string{"-c", script}, Grace: time.Second, Stderr: stderr, RedactStderr: true,
		Env: append(os.Environ(), "PIER_API_KEY="+secret),
	}
	s := wrapped(t, gateway.Options{}, child)
	s.call(1, "moor", `{}`)
	s.answer("1")
	s.hangUp()
	strays := strings.Join(s.books.Strays(), "\n")
	for where, got := range map[string]string{"boot": stderr.String(), "listening with": s.log.String(), `"zk"`: strays} {
		if !strings.Contains(got, where) {
			t.Errorf("%q was not passed on: %s", where, got)
		}
		if strings.Contains(got, secret) {
			t.Errorf("the secret is in %s", got)
		}
	}
}

// TestRecordedFailuresAreCleanedAsValues checks that the recorded text of the upstream omits values that only a label marks as
// secret.
func TestRecordedFailuresAreCleanedAsValues(t *testing.T) {
	script := `read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[],"structuredContent":{"name":"password","value":"zebracrossing","n":{"token":48151623}}}}'; read -r line`
	s := wrapped(t, gateway.Options{}, Child{Command: "sh", Args: []string{"-c", script}, Grace: time.Second})
	s.call(1, "moor", `{}`)
	answer := s.answer("1")
	s.hangUp()
	for where, got := range map[string]string{"answer": answer, "entry": string(s.books.All()[len(s.books.All())-1].Received)} {
		if strings.Contains(got, "zebracrossing") || strings.Contains(got, "48151623") || !strings.Contains(got, "password") {
			t.Errorf("%s: %s", where, got)
		}
	}
}
