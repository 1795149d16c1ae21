package natsstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/natsstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/ledger"
)

// attacked is a server with two nodes that have shipped part of their ledgers. Node web-1 has been taken over: hostile is a connection with
// its credentials.
type attacked struct {
	*granted
	victim  fleet.Store
	chain   fleet.Chain // of web-2
	lines   [][]byte
	shipped int // lines of the victim in the store

	hostile  *nats.Conn
	own      fleet.Chain // of web-1
	ownLines [][]byte
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	a := &attacked{granted: startGranted(t, 1)}
	a.chain, a.lines = storetest.Ledger(t, "web-2", 20)
	a.own, a.ownLines = storetest.Ledger(t, "web-1", 5)
	a.victim, a.shipped = a.node(t, "web-2"), len(a.lines)-8
	if err := a.victim.Append(t.Context(), a.chain, fleet.Head{}, a.lines[:a.shipped]); err != nil {
		t.Fatal(err)
	}
	if err := a.node(t, "web-1").Append(t.Context(), a.own, fleet.Head{}, a.ownLines); err != nil {
		t.Fatal(err)
	}
	user, err := nats.NkeyOptionFromSeed(a.seeds["web-1"])
	if err != nil {
		t.Fatal(err)
	}
	if a.hostile, err = nats.Connect(a.URL(), user, nats.SkipSubjectValidation()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.hostile.Close)
	return a
}

func subjectOf(chain fleet.Chain) string { return "candor.ledger." + chain.Node + "." + chain.Name }

// barrier returns when the server has handled what the hostile node has sent.
func (a *attacked) barrier(t *testing.T) {
	t.Helper()
	if _, err := a.hostile.Request("candor.api.STREAM.INFO."+natsstore.DefaultStream, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// finish ships the rest of the victim's lines.
func (a *attacked) finish(t *testing.T) {
	t.Helper()
	if err := a.victim.Append(t.Context(), a.chain, storetest.HeadOf(t, a.lines[a.shipped-1]), a.lines[a.shipped:]); err != nil {
		t.Errorf("the other node cannot go on: %v", err)
	}
}

// verify verifies the store with the known key of the victim and returns the damage by node. The victim must be whole.
func (a *attacked) verify(t *testing.T) map[string][]view.Damage {
	t.Helper()
	first, err := ledger.ParseLine(a.lines[0])
	if err != nil {
		t.Fatal(err)
	}
	said, _ := view.StatedKeys(&first)
	report, err := view.Verify(t.Context(), a.operator(t), view.Options{Keys: map[string][]string{"web-2": {said.Key}}})
	if err != nil {
		t.Fatal(err)
	}
	damage, seen := map[string][]view.Damage{}, false
	for _, d := range report.Damage {
		damage[d.Node] = append(damage[d.Node], d)
	}
	for _, node := range report.Nodes {
		if node.Node == "web-2" {
			seen = true
			if !node.OK || node.Entries != uint64(len(a.lines)) {
				t.Errorf("web-2 has %d entries, want %d; damage %v", node.Entries, len(a.lines), damage["web-2"])
			}
		}
	}
	if !seen {
		t.Error("web-2 is gone")
	}
	if report.OK != (len(report.Damage) == 0) {
		t.Errorf("OK %t with %d damages", report.OK, len(report.Damage))
	}
	return damage
}

// unharmed ships the rest of the victim's lines and checks that nothing is wrong with any node.
func (a *attacked) unharmed(t *testing.T) {
	t.Helper()
	a.barrier(t)
	a.finish(t)
	if damage := a.verify(t); len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
}

func (a *attacked) publish(t *testing.T, subject, reply string, data []byte) {
	t.Helper()
	if err := a.hostile.PublishRequest(subject, reply, data); err != nil {
		t.Fatal(err)
	}
}

func TestHostileNodeCannotWriteToOtherChains(t *testing.T) {
	t.Parallel()
	a := newAttacked(t)
	next := a.lines[a.shipped] // even the right line
	forged := storetest.NextLine(a.chain, storetest.HeadOf(t, a.lines[a.shipped-1]), []byte("forged"))
	for _, subject := range []string{
		subjectOf(a.chain), "candor.ledger.web-2.new", "candor.ledger.*." + a.chain.Name, "candor.ledger.>", "candor.ledger.web-2.*", ">",
		"candor.ledger.web-1.c.d", "candor.ledger.web-10.c", "candor.ledger.web-1." + subjectOf(a.chain), "$SYS.REQ.ACCOUNT.LEDGER." + subjectOf(a.chain), "LEDGER." + subjectOf(a.chain),
	} {
		for _, line := range [][]byte{next, forged} {
			a.publish(t, subject, "", line)
			a.publish(t, subject, subjectOf(a.chain), line)
		}
	}
	a.unharmed(t)
	chains, err := a.operator(t).Chains(t.Context())
	if err != nil || !slices.Equal(chains, []fleet.Chain{a.own, a.chain}) {
		t.Errorf("chains %v, %v", chains, err)
	}
}

func TestHostileNodeHasNoRightsToTheStream(t *testing.T) {
	t.Parallel()
	a := newAttacked(t)
	const stream = natsstore.DefaultStream
	for _, request := range [][2]string{
		{"STREAM.DELETE." + stream, ""}, {"STREAM.PURGE." + stream, ""}, {"STREAM.PURGE." + stream, `{"filter":"` + subjectOf(a.chain) + `"}`},
		{"STREAM.MSG.DELETE." + stream, `{"seq":3}`}, {"STREAM.MSG.DELETE." + stream, `{"seq":3,"no_erase":true}`},
		{"STREAM.UPDATE." + stream, `{"name":"CANDOR","subjects":["candor.ledger.*.*"],"max_msgs":1}`},
		{"STREAM.CREATE." + stream, `{"name":"CANDOR","subjects":["candor.ledger.*.*"],"max_msgs":1}`},
		{"STREAM.CREATE.COPY", `{"name":"COPY","sources":[{"name":"CANDOR"}]}`},
		{"STREAM.RESTORE." + stream, `{"config":{"name":"CANDOR","subjects":["candor.ledger.*.*"]},"state":{}}`},
		{"STREAM.SNAPSHOT." + stream, `{"deliver_subject":"x"}`}, {"STREAM.PEER.REMOVE." + stream, `{"peer":"n1"}`}, {"STREAM.LEADER.STEPDOWN." + stream, ""},
		{"CONSUMER.CREATE." + stream, `{"stream_name":"CANDOR","config":{"deliver_subject":"` + subjectOf(a.chain) + `"}}`},
		{"CONSUMER.CREATE." + stream + ".x.candor.ledger.*.*", `{"stream_name":"CANDOR","config":{"name":"x"}}`},
		{"CONSUMER.DURABLE.CREATE." + stream + ".x", `{"stream_name":"CANDOR","config":{"durable_name":"x"}}`},
		{"CONSUMER.DELETE." + stream + ".x", ""}, {"CONSUMER.PAUSE." + stream + ".x", `{"pause_until":"2999-01-01T00:00:00Z"}`}, {"CONSUMER.NAMES." + stream, ""},
		{"CONSUMER.MSG.NEXT." + stream + ".x", "1"}, {"DIRECT.GET." + stream, `{"seq":1}`}, {"META.LEADER.STEPDOWN", ""}, {"STREAM.NAMES", ""}, {"SERVER.REMOVE", `{"peer":"n1"}`},
		{"ACCOUNT.PURGE.LEDGER", ""}, {"ACCOUNT.STREAM.MOVE.LEDGER." + stream, "{}"},
	} {
		for _, prefix := range []string{"$JS.API.", "candor.api.", "$JS.web-1.API.", "$JS.LEDGER.API."} {
			answer, err := a.hostile.Request(prefix+request[0], []byte(request[1]), 100*time.Millisecond)
			if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrTimeout) {
				continue
			}
			var failure struct {
				Error struct {
					Code int `json:"err_code"`
				} `json:"error"`
			}
			const notEnabled, notClustered = 10039, 10010 // the node's account lacks JetStream; the server is alone
			if err != nil || json.Unmarshal(answer.Data, &failure) != nil || failure.Error.Code != notEnabled && failure.Error.Code != notClustered {
				t.Errorf("%s%s: %v, %s", prefix, request[0], err, answer.Data)
			}
		}
	}
	a.unharmed(t)
}

// Headers tell JetStream to do more than to store a message. Each is sent with a line of the hostile node's own chain.
func TestHostileHeadersDoNotTouchOtherChains(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"rollup of all":           {"Nats-Rollup", "all"},
		"rollup of the subject":   {"Nats-Rollup", "sub"},
		"time to live":            {"Nats-TTL", "1s"},
		"schedule":                {"Nats-Schedule", "@at 2020-01-01T00:00:00Z", "Nats-Schedule-Target", "TARGET"},
		"schedule of a source":    {"Nats-Schedule", "@every 1s", "Nats-Schedule-Target", "TARGET", "Nats-Schedule-Source", "TARGET"},
		"counter":                 {"Nats-Incr", "1"},
		"sequence of the subject": {"Nats-Expected-Last-Subject-Sequence", "0", "Nats-Expected-Last-Subject-Sequence-Subject", "TARGET"},
		"operation of a bucket":   {"KV-Operation", "PURGE", "Nats-Marker-Reason", "Purge"},
		"stream and subject":      {"Nats-Stream", "CANDOR", "Nats-Subject", "TARGET", "Nats-Sequence", "1"},
		"source":                  {"Nats-Stream-Source", "CANDOR 3 TARGET candor.ledger.*.*"},
		"account of another":      {"Nats-Request-Info", `{"acc":"web-2"}`},
		"status":                  {"Status", "404", "Description", "No Messages"},
		"batch":                   {"Nats-Batch-Id", "b", "Nats-Batch-Sequence", "1", "Nats-Batch-Commit", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAttacked(t)
			for _, chain := range []string{a.own.Name, "new"} {
				m := nats.NewMsg("candor.ledger.web-1." + chain)
				for i := 0; i < len(headers); i += 2 {
					m.Header.Set(headers[i], strings.ReplaceAll(headers[i+1], "TARGET", subjectOf(a.chain)))
				}
				m.Data = []byte("an attack with headers")
				if err := a.hostile.PublishMsg(m); err != nil {
					t.Fatal(err)
				}
			}
			a.barrier(t)
			a.finish(t)
			a.verify(t) // what the hostile node has done to its own chains does not matter
		})
	}
}

// Batches that are begun and not finished take places that all nodes share.
func TestHostileNodeCannotBlockOthersWithBatches(t *testing.T) {
	t.Parallel()
	a := newAttacked(t)
	for i := range 300 {
		m := nats.NewMsg(subjectOf(a.own))
		m.Header.Set("Nats-Batch-Id", fmt.Sprintf("open-%d", i))
		m.Header.Set("Nats-Batch-Sequence", "1")
		m.Data = []byte("never finished")
		if err := a.hostile.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	a.unharmed(t)
}

func TestHostileNodeCannotListen(t *testing.T) {
	t.Parallel()
	a := newAttacked(t)
	var all []*nats.Subscription
	for _, subject := range []string{">", "candor.ledger.>", "_INBOX_web-2.>", "_INBOX.>", "$JS.>", "$SYS.>", "_R_.>", "$JS.EVENT.ADVISORY.>", "$JSC.>"} {
		sub, err := a.hostile.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sub)
	}
	if err := a.hostile.Flush(); err != nil {
		t.Fatal(err)
	}
	a.finish(t)
	a.barrier(t)
	for _, sub := range all {
		for {
			m, err := sub.NextMsg(time.Millisecond)
			if err != nil {
				break
			}
			if !strings.HasPrefix(m.Subject, "_INBOX.") && !strings.HasPrefix(m.Subject, "candor.api.STREAM.INFO") { // its own request, and the answer
				t.Errorf("%s: heard %s %.100s", sub.Subject, m.Subject, m.Data)
			}
		}
	}
	a.verify(t)
}
