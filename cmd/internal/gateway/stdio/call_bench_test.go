package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
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
			speak := func(request string) {
				line := []byte(request)
				m := wire.Parse(line, wire.Limits{})
				p.fromClient(framing.Line{Bytes: line})
				l.fromServer(framing.Line{Bytes: load.Answer(nil, &m)})
			}
			speak(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}`)
			speak(`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
			request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1234567,"method":"tools/call","params":{"name":%q,"arguments":{"path":"notes/today.md","limit":10}}}`, tool)
			m := wire.Parse(request, wire.Limits{})
			answer := load.Answer(nil, &m)
			b.ReportAllocs()
			for b.Loop() {
				p.fromClient(framing.Line{Bytes: request})
				l.fromServer(framing.Line{Bytes: answer})
			}
		})
	}
}
