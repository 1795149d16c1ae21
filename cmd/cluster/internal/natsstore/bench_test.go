package natsstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// BenchmarkAppend compares Append with publishing the same bytes through the client of JetStream, in turns on the same servers. The bare
// client publishes without conditions: one message and its answer for one line, and otherwise all messages before it waits for the answers.
func BenchmarkAppend(b *testing.B) {
	for _, servers := range []int{1, 3} {
		b.Run(fmt.Sprintf("servers=%d", servers), func(b *testing.B) {
			cluster := natscluster.Start(b, natscluster.Options{Servers: servers})
			store := open(b, cluster.URL()+"?node=n")
			setUp(b, store)
			js, err := jetstream.New(connect(b, cluster), jetstream.WithPublishAsyncMaxPending(4000))
			if err != nil {
				b.Fatal(err)
			}
			config := jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare.*"}, Replicas: servers}
			if _, err := js.CreateStream(b.Context(), config); err != nil {
				b.Fatal(err)
			}
			for _, lines := range []int{1, 5, 10, 100, 1000} {
				b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) { compare(b, store, js, lines) })
			}
		})
	}
}

func compare(b *testing.B, store fleet.Store, js jetstream.JetStream, count int) {
	b.Helper()
	chain := fleet.Chain{Node: "n", Name: fmt.Sprintf("c%d-%d", count, time.Now().UnixNano())}
	head := fleet.Head{}
	var own, bare time.Duration
	for b.Loop() {
		lines := storetest.MakeLines(chain, head, count, 500)
		began := time.Now()
		if err := store.Append(b.Context(), chain, head, lines); err != nil {
			b.Fatal(err)
		}
		own += time.Since(began)
		head = storetest.HeadOf(b, lines[count-1])
		began = time.Now()
		if err := publishBare(b.Context(), js, chain.Name, lines); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(began)
	}
	all := float64(b.N * count)
	b.ReportMetric(all/own.Seconds(), "lines/s")
	b.ReportMetric(all/bare.Seconds(), "bare-lines/s")
	b.ReportMetric(own.Seconds()/bare.Seconds(), "times-bare")
	b.ReportMetric(0, "ns/op")
}

func publishBare(ctx context.Context, js jetstream.JetStream, name string, lines [][]byte) error {
	if len(lines) == 1 {
		_, err := js.Publish(ctx, "bare."+name, lines[0])
		return err
	}
	futures := make([]jetstream.PubAckFuture, len(lines))
	for i, line := range lines {
		var err error
		if futures[i], err = js.PublishAsync("bare."+name, line); err != nil {
			return err
		}
	}
	for _, future := range futures {
		select {
		case <-future.Ok():
		case err := <-future.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
