package bridge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/internal/testing/planted"
	"github.com/candor-mcp/candor/internal/testing/sweep"
)

// TestR12NoPlantedSecretOfAChildGetsOut uses a wrapped child.
func TestR12NoPlantedSecretOfAChildGetsOut(t *testing.T) {
	for half, mode := range httpgatetest.Redacting {
		t.Run(string(mode), func(t *testing.T) {
			s, all := newScene(t), plantAll(rand.New(rand.NewPCG(1, 2)), childWays, half)
			s.inspect(t, all, s.wrap(t, mode, all))
			if len(all)*sweep.Step(3, 8) < 1000 {
				t.Errorf("%d secrets are too few", len(all))
			}
		})
	}
}

// TestR12NoPlantedSecretGetsOutOverHTTP uses an HTTP upstream; each secret is also in the id of a session.
func TestR12NoPlantedSecretGetsOutOverHTTP(t *testing.T) {
	for half, mode := range httpgatetest.Redacting {
		t.Run(string(mode), func(t *testing.T) {
			s, all := newScene(t), plantAll(rand.New(rand.NewPCG(3, 4)), httpWays, half)
			s.inspect(t, all, s.door(t, mode, all))
			if len(all)*sweep.Step(3, 8) < 1000 {
				t.Errorf("%d secrets are too few", len(all))
			}
		})
	}
}

// TestR12NoPlantedSecretGetsOutOfABridge uses a child that is served over HTTP.
func TestR12NoPlantedSecretGetsOutOfABridge(t *testing.T) {
	for half, mode := range httpgatetest.Redacting {
		s, all := newScene(t), plantAll(rand.New(rand.NewPCG(25, 26)), childWays, half)
		s.inspect(t, all, s.bridge(t, mode, all))
	}
}

// TestR12NoSecretIsToldOfADeath uses children that end with secrets in their output, some of them where the output is cut.
func TestR12NoSecretIsToldOfADeath(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for start := 0; start < len(planted.Makers); start += 8 {
		var all []plant
		words, noise := "", ""
		for i, maker := range planted.Makers[start:min(start+8, len(planted.Makers))] {
			secret := maker.Make(r)
			all = append(all, plant{way: "last words", kind: maker.Kind, secret: secret})
			words += planted.Templates[(start+i)%len(planted.Templates)].Text(secret) + "\n"
			secret = maker.Make(r)
			all = append(all, plant{way: "noise", kind: maker.Kind, secret: secret})
			noise += strings.ReplaceAll(planted.Across([]int{1, 256, 4 << 10}[i%3]+len(secret), i, secret), "\n", " ") + "\n"
		}
		for _, edge := range []int{1 << 10, 16 << 10} { // from the end: the shown part and the kept part
			maker := planted.Makers[(start+edge)%len(planted.Makers)]
			secret := maker.Make(r)
			all = append(all, plant{way: fmt.Sprint("last words across ", edge), kind: maker.Kind, secret: secret})
			words = "token " + secret + strings.Repeat(" word", edge)[:max(0, edge-len(words)-len(secret)/2)] + "\n" + words
		}
		for i := range all {
			all[i].act = act{Noise: noise, Stderr: words + "over and out\n", Exit: 3}
		}
		mode := httpgatetest.Redacting[start/8%2]
		s := newScene(t)
		answers := s.wrap(t, mode, all)
		if told := strings.Contains(answers[0], `over and out"`); !strings.Contains(answers[0], `"exitCode":3`) || told != (mode == gateway.ModeAnnotate) {
			t.Fatalf("%s: %s", mode, answers[0])
		}
		for i := range answers {
			answers[i] = answers[0]
		}
		s.inspectDeath(t, all, answers)
	}
}

// TestR12RealErrorsStayAsTheyAre counts the recorded failures of real servers in which text was redacted.
func TestR12RealErrorsStayAsTheyAre(t *testing.T) {
	records, err := corpus.Load(corpus.Failures)
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []plant
	for _, r := range records {
		var whole struct{ Result, Error json.RawMessage }
		if json.Unmarshal(r.Response, &whole) != nil || !r.Flagged() || len(all) == 2000/sweep.Step(4, 10) {
			continue
		}
		say := `"result":` + string(whole.Result)
		if whole.Error != nil {
			say = `"error":` + string(whole.Error)
		}
		all = append(all, plant{way: r.Server + " " + r.Tool + " " + r.Case, act: act{Say: say}})
	}
	s := newScene(t)
	answers := s.wrap(t, gateway.ModeAnnotate, all)
	wrong := 0
	for i, p := range all {
		if strings.Contains(answers[i], "[redacted") && !strings.Contains(p.act.Say, "[redacted") {
			wrong++
			t.Logf("%s: %.600s became %.1200s", p.way, p.act.Say, answers[i])
		}
	}
	t.Logf("%d of %d errors were changed", wrong, len(all))
	if wrong*100 > len(all) {
		t.Error("more than 1 % of clean errors were changed")
	}
}
