package stdio

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/internal/framing"
)

// WrapEnv makes the test binary a gateway in front of the measured server. Its value is that of load.Env for the server.
const WrapEnv = "CANDOR_TEST_WRAP"

func wrapMain() int {
	child := Child{Command: os.Args[0], Env: append(os.Environ(), load.Env+"="+os.Getenv(WrapEnv), WrapEnv+"=")}
	exit, err := Wrap(context.Background(), gateway.New(gateway.Options{}), Streams{In: os.Stdin, Out: os.Stdout}, child)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return exit.Code
}

// BenchmarkPump measures a call without pipes: a request from the client's line to the server's, and its answer back.
func BenchmarkPump(b *testing.B) {
	for _, tool := range []string{load.Echo, load.Fail} {
		b.Run(tool, func(b *testing.B) {
			p := newClientConn(b.Context(), gateway.New(gateway.Options{Repeats: gateway.RepeatPolicy{Off: true}}), io.Discard)
			l := p.newServerConn(newLineWriter(io.Discard, p.up.Timeout("")))
			p.connect(l)
			exchange := func(request string) (asked, answered framing.Line) {
				var answer bytes.Buffer
				if err := load.ServePlainly(strings.NewReader(request+"\n"), &answer); err != nil {
					b.Fatal(err)
				}
				asked, answered = framing.Line{Bytes: []byte(request)}, framing.Line{Bytes: bytes.TrimSpace(answer.Bytes())}
				p.fromClient(asked)
				l.fromServer(answered)
				return asked, answered
			}
			exchange(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}`)
			exchange(`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
			asked, answered := exchange(`{"jsonrpc":"2.0","id":1234567,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"path":"notes/today.md","limit":10}}}`)
			b.ReportAllocs()
			for b.Loop() {
				p.fromClient(asked)
				l.fromServer(answered)
			}
		})
	}
}
