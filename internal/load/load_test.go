package load

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestCallersOverAPipeGetTheirAnswers(t *testing.T) {
	asked, ask := io.Pipe()
	heard, say := io.Pipe()
	go func() {
		_ = Serve(asked, say)
		_ = say.Close()
	}()
	p, err := NewPipe(heard, ask, 4)
	if err != nil {
		t.Fatal(err)
	}
	exercise(t, p)
}

func TestCallersOverHTTPGetTheirAnswers(t *testing.T) {
	s := httptest.NewServer(Handler())
	defer s.Close()
	p, err := NewPost(strings.TrimPrefix(s.URL, "http://"), "/mcp", 4)
	if err != nil {
		t.Fatal(err)
	}
	exercise(t, p)
}

func exercise(t *testing.T, c Callers) {
	t.Helper()
	for _, tool := range []string{Echo, Fail} {
		if rate, err := Rate(c, 4, tool, 10*time.Millisecond); err != nil || rate == 0 {
			t.Errorf("calling %s: %v a second, %v", tool, rate, err)
		}
	}
	if took, err := Latency(c, Echo, 3); err != nil || len(took) != 3 {
		t.Errorf("%v, %v", took, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Call(0, Echo); err == nil {
		t.Error("a call after the end was answered")
	}
}
