package natsshare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Limits of a bucket.
const (
	bucketTTL   = 15 * time.Minute // longer than nodes count values of others
	bucketBytes = 16 << 20
	bucketValue = 4096
	readTimeout = 5 * time.Second
	// maxRead is the number of values that are read after a connection. The server has the same limit for one request.
	maxRead = 1024
)

// kinds are read one by one, so that many values of one kind do not hide the others.
var kinds = []string{"*.catalogue", "*.breaker.*", "*.repeat.*", "*.code.*"}

// Setup creates the bucket if there is none. It needs the rights of an operator.
func Setup(ctx context.Context, js jetstream.JetStream, bucket string, replicas int) error {
	_, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: bucket, Description: "what gateways of Candor share about failures", TTL: bucketTTL, MaxBytes: bucketBytes, MaxValueSize: bucketValue,
		History: 1, Replicas: max(replicas, 1),
		Storage: jetstream.FileStorage, // a single server that restarts does not have a bucket in memory any more
	})
	if err != nil && !errors.Is(err, jetstream.ErrBucketExists) {
		return fmt.Errorf("creating the bucket %s: %w", bucket, err)
	}
	return nil
}

// Grant returns the least rights that a node needs, as the subjects to which it may publish and subscribe.
func Grant(bucket, node string) (publish, subscribe []string) {
	return []string{subject(bucket) + node + ".>", "$JS.API.DIRECT.GET.KV_" + bucket}, []string{subject(bucket) + ">", inboxPrefix(node) + ".>"}
}

// readBucket passes the values in the bucket to the gateway. Without a bucket, nodes that start later know less, and that is all.
func (b *Bus) readBucket(conn *nats.Conn) error {
	for _, kind := range kinds {
		if err := b.readKind(conn, kind); err != nil {
			return fmt.Errorf("the bucket %s cannot be read: %w", b.bucket, err)
		}
	}
	return nil
}

func (b *Bus) readKind(conn *nats.Conn, kind string) error {
	request, err := json.Marshal(map[string]any{"multi_last": []string{subject(b.bucket) + kind}, "batch": maxRead})
	if err != nil {
		return err
	}
	inbox, err := conn.SubscribeSync(conn.NewInbox())
	if err != nil {
		return err
	}
	defer inbox.Unsubscribe() //nolint:errcheck // the connection may be closed
	if err := conn.PublishRequest("$JS.API.DIRECT.GET.KV_"+b.bucket, inbox.Subject, request); err != nil {
		return err
	}
	deadline := time.Now().Add(readTimeout)
	for range maxRead + 1 {
		m, err := inbox.NextMsg(time.Until(deadline))
		if err != nil {
			return err
		}
		switch status := m.Header.Get("Status"); status {
		case "":
			b.passStored(m)
		case "204", "404": // the end, or nothing
			return nil
		default:
			return fmt.Errorf("status %s %s", status, m.Header.Get("Description"))
		}
	}
	return nil
}

// passStored passes on a value as the server has stored it. The server adds its headers to those of the publisher, so a message that has
// any other, or one twice, is not from an honest node.
func (b *Bus) passStored(m *nats.Msg) {
	for name, values := range m.Header {
		switch name {
		case "Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp", "Nats-Num-Pending", "Nats-Last-Sequence":
			if len(values) != 1 {
				return
			}
		default:
			return
		}
	}
	at, err := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	if err != nil {
		return
	}
	b.pass(m.Header.Get("Nats-Subject"), m.Data, time.Since(at))
}
