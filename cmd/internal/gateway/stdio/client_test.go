package stdio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
)

// scribe writes random but valid messages, with members in any order, any white space and any escapes.
type scribe struct{ *rand.Rand }

func (s scribe) space() string { return strings.Repeat(" \t"[s.IntN(2):][:1], s.IntN(3)) }

func (s scribe) text() string {
	pieces := []string{"a", "é", "漢", "😀", `\u00e9`, `\ud83d\ude00`, `\n`, `\"`, `\\`, `\/`, `\u2028`, " ", "<&>", `\ud800`}
	out := `"`
	for range s.IntN(6) {
		out += pieces[s.IntN(len(pieces))]
	}
	return out + `"`
}

func (s scribe) number() string {
	return []string{"0", "-0", "1.0", "1e400", "9007199254740993", "123456789012345678901234567890", "-1.5E-7", "0.10"}[s.IntN(8)]
}

func (s scribe) value(depth int) string {
	switch n := s.IntN(8); {
	case n < 2:
		return s.text()
	case n < 4:
		return s.number()
	case n == 4:
		return []string{"true", "false", "null"}[s.IntN(3)]
	case n < 7 && depth > 0:
		var members []string
		for i := range s.IntN(5) {
			members = append(members, fmt.Sprintf(`"k%d"%s:%s%s`, i, s.space(), s.space(), s.value(depth-1)))
		}
		return "{" + s.space() + strings.Join(members, s.space()+",") + "}"
	case depth > 0:
		var elements []string
		for range s.IntN(5) {
			elements = append(elements, s.value(depth-1))
		}
		return "[" + strings.Join(elements, ","+s.space()) + s.space() + "]"
	default:
		return s.number()
	}
}

// message returns an object with the members in random order.
func (s scribe) message(members ...string) string {
	members = append(members, `"jsonrpc":"2.0"`)
	if s.IntN(3) == 0 {
		members = append(members, `"x-unknown":`+s.value(2))
	}
	s.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + s.space() + strings.Join(members, s.space()+","+s.space()) + "}"
}

func (s scribe) id(n int) string {
	switch s.IntN(4) {
	case 0:
		return fmt.Sprintf(`"\u0069d-%d"`, n)
	case 1:
		return fmt.Sprintf(`%d.50`, n)
	case 2:
		return fmt.Sprintf(`90071992547409930000%d`, n)
	default:
		return fmt.Sprint(n)
	}
}

func TestCleanTrafficPassesByteByByteBothWays(t *testing.T) {
	for seed := range uint64(20) {
		s := scribe{rand.New(rand.NewPCG(seed, 1))}
		clientR, clientW := io.Pipe()
		serverR, serverW := io.Pipe()
		toServer, toClient := make(chan string, 1000), make(chan string, 1000)
		p := newClientConn(t.Context(), gateway.New(gateway.Options{}), lineSink{toClient, new(bytes.Buffer)})
		l := p.newServerConn(newLineWriter(lineSink{toServer, new(bytes.Buffer)}, 0))
		p.connect(l)
		go p.readClient(clientR)
		go func() { _ = l.read(serverR) }()
		pass := func(w io.Writer, line string, out <-chan string) {
			t.Helper()
			end := []string{"\n", "\r\n", "\n\n"}[s.IntN(3)]
			for rest := line + end; rest != ""; { // in pieces, as pipes split them
				n := min(1+s.IntN(40), len(rest))
				if _, err := io.WriteString(w, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if got := <-out; got != line {
				t.Fatalf("seed %d:\nsent     %q\nreceived %q", seed, line, got)
			}
		}
		for n := range 40 {
			id, params := s.id(n), `"params":{"k":`+s.value(3)+`}`
			pass(clientW, s.message(`"id":`+id, `"method":"x/\u0061sk"`, params), toServer)
			pass(serverW, s.message(`"method":"notifications/x"`, params), toClient)
			pass(serverW, s.message(`"id":`+id, `"method":"roots/list"`, params), toClient)
			pass(clientW, s.message(`"id":`+id, `"result":`+s.value(3)), toServer)
			pass(serverW, s.message(`"id":`+id, `"result":{"k":`+s.value(3)+`}`), toClient)
			pass(clientW, s.message(`"method":"notifications/x"`, params), toServer)
		}
		_, _ = clientW.Close(), serverW.Close()
	}
}

// lineSink sends each line that is written to it to a channel.
type lineSink struct {
	lines chan<- string
	rest  *bytes.Buffer
}

func (l lineSink) Write(b []byte) (int, error) {
	l.rest.Write(b)
	for {
		line, err := bufio.NewReader(bytes.NewReader(l.rest.Bytes())).ReadString('\n')
		if err != nil {
			return len(b), nil
		}
		l.rest.Next(len(line))
		l.lines <- strings.TrimSuffix(line, "\n")
	}
}

func TestBadLinesOfAClientAreAnsweredAndTheSessionGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDesk(t, gateway.Options{})
		for line, code := range map[string]string{
			`hello world`:                                       "PARSE_ERROR",
			`{"jsonrpc":"2.0","id":1,"method":`:                 "PARSE_ERROR",
			`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:        "BATCH_UNSUPPORTED",
			`{"jsonrpc":"2.0","id":null,"method":"ping"}`:       "INVALID_REQUEST",
			`{"jsonrpc":"2.0","id":1,"id":2,"method":"p"}`:      "INVALID_REQUEST",
			`{"id":1,"method":"ping"}`:                          "INVALID_REQUEST",
			"\xef\xbb\xbf" + gatewaytest.ToolCall(1, "x", "{}"): "PARSE_ERROR",
			`{"jsonrpc":"2.0","id":1,"method":"p","params":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`: "MESSAGE_TOO_DEEP",
		} {
			d.client(line)
			d.wantTold(code)
			d.wantHeard()
		}
		d.pump.fromClient(framing.Line{Size: 32 << 20, Flaw: wireflaw.TooLarge, Head: []byte(`{"jsonrpc":"2.0","id":77,"method":"tools/call"`)})
		d.pump.flush()
		if told := d.told(); len(told) != 1 || gatewaytest.CodeOf(told[0]) != "MESSAGE_TOO_LARGE" || !strings.Contains(told[0], `"id":77`) {
			t.Error(told)
		}
		call := gatewaytest.ToolCall(1, "work", `{}`)
		d.client(call)
		d.wantHeard(call)
	})
}
