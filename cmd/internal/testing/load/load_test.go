package load

import (
	"io"
	"testing"
	"time"

	"github.com/candor-mcp/candor/wire"
)

func TestCallersOverAPipeGetTheirAnswers(t *testing.T) {
	for name, serve := range map[string]func(io.Reader, io.Writer) error{Plain: ServePlainly, Lean: Server.Serve} {
		t.Run(name, func(t *testing.T) {
			asked, ask := io.Pipe()
			heard, say := io.Pipe()
			go func() {
				_ = serve(asked, say)
				_ = say.Close()
			}()
			p, err := NewPipe(heard, ask, 4)
			if err != nil {
				t.Fatal(err)
			}
			exercise(t, p)
		})
	}
}

func exercise(t *testing.T, calls Callers) {
	t.Helper()
	for _, measure := range []func(Callers) (float64, int64, error){
		Rate(4, Echo, time.Second/4), Rate(4, Fail, time.Second/4), Latency(3, Echo),
	} {
		r, c := Race{Measure: measure}, &Contestant{Callers: calls}
		r.Enter(c)
		if err := r.Round(); err != nil || c.Figure() <= 0 || c.CPU() < 0 {
			t.Errorf("%v of %v, %v", c.Figure(), c.figures, err)
		}
	}
	if err := calls.Close(); err != nil {
		t.Error(err)
	}
	if err := calls.Call(0, Echo); err == nil {
		t.Error("a call after the end was answered")
	}
}

func TestAnAnswerThatIsNotTheToolsIsNoFigure(t *testing.T) {
	ask := wire.Parse(AppendCall(nil, 1, Fail), wire.Limits{})
	failed := wire.Parse(Server.Answer(nil, &ask), wire.Limits{})
	if Check(&failed, Fail) != nil || Check(&failed, Echo) == nil {
		t.Error("an answer was taken for that of the other tool")
	}
}
