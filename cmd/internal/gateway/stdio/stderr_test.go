package stdio

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/tail"
	"github.com/candor-mcp/candor/internal/testing/planted"
)

// loggingConn returns a connection that logs to w.
func loggingConn(w io.Writer) *serverConn {
	up := gateway.New(gateway.Options{Logger: slog.New(slog.NewTextHandler(w, nil))})
	return newClientConn(context.Background(), up, io.Discard).newServerConn(newLineWriter(io.Discard, 0))
}

func TestASecretIsNotShownInPartsWhereverItIsCut(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, maker := range planted.Makers {
		secret := maker.Make(random)
		for back := range len(secret) { // the kept bytes begin inside the secret
			tail := &stderrTail{kept: tail.Tail{N: keptBytes}}
			tail.take([]byte("refused " + secret + " for this\n"))
			tail.take([]byte(strings.Repeat("x", keptBytes-back-len(" for this\n")-1) + "\n"))
			if got := tail.text(); len(secret)-back > 8 && strings.Contains(got, secret[back:]) {
				t.Fatalf("%s, cut at %d: %.200s", maker.Kind, back, got)
			}
			log := &gatewaytest.LockedBuffer{}
			loggingConn(log).logNoise([]byte("refused "+secret[:back]), false)
			if back > 8 && strings.Contains(log.String(), secret[:back]) {
				t.Fatalf("%s, cut at %d: %s", maker.Kind, back, log)
			}
		}
	}
}

func TestTheTailIsTheEnd(t *testing.T) {
	tail := &stderrTail{kept: tail.Tail{N: keptBytes}}
	for range 5000 {
		tail.take([]byte("an earlier line\n"))
	}
	tail.take([]byte("the last words\n"))
	if got := tail.text(); !strings.HasSuffix(got, "an earlier line\nthe last words") || len(got) > shownBytes || !strings.HasPrefix(got, "an earlier") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}

// TestCrashIsReportedWithoutItsStack checks that the last messages of a server are kept, with any text between them.
func TestCrashIsReportedWithoutItsStack(t *testing.T) {
	for text, want := range map[string]string{
		"the pier is closed\n": "the pier is closed",
		"boat.js:3\n  moor()\n  ^\n\nTypeError: no rope\n    at moor (…/boat.js:3:40)\n    at process.tick (node:internal/queues:1:5)\n\nNode.js v22\n": "boat.js:3\n  moor()\n  ^\n\nTypeError: no rope\n\nNode.js v22",
		"Traceback (most recent call last):\n  File \"boat.py\", line 3, in moor\n    rope()\nKeyError: 'rope'\nbye\n":                                  "rope()\nKeyError: 'rope'\nbye",
		"panic: no rope\n\ngoroutine 1 [running]:\nmain.moor(0x1)\n\t/src/boat.go:3 +0x1d\nexit status 2\n":                                             "panic: no rope\n\nexit status 2",
	} {
		if got := withoutFrames(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
