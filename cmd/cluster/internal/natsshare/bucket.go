package natsshare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
//
// The stream is that of a key-value bucket, with two differences: a message cannot remove others (a roll-up), and a full bucket drops its
// oldest values. Otherwise one node could empty it, or stop the others by filling it.
func Setup(ctx context.Context, js jetstream.JetStream, bucket string, replicas int) error {
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "KV_" + bucket, Subjects: []string{subject(bucket) + ">"}, Description: "what gateways of Candor share about failures",
		MaxAge: bucketTTL, MaxBytes: bucketBytes, MaxMsgSize: bucketValue, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardOld,
		AllowDirect: true, DenyDelete: true, Replicas: max(replicas, 1),
		RePublish: &jetstream.RePublish{Source: subject(bucket) + ">", Destination: liveSubject(bucket) + ">"},
		Storage:   jetstream.FileStorage, // a single server that restarts does not have a bucket in memory any more
	})
	if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return fmt.Errorf("creating the bucket %s: %w", bucket, err)
	}
	return nil
}

// Exports returns what the account with the bucket must export, as lines of a nats-server configuration. A node can import the subjects with
// its own name only.
//
// Each node needs an account of its own, with [Imports]. Permissions of users in one account are not enough: a server sends an answer to
// any address that a request names, so a node could have a value of its choice delivered under the name of another.
func Exports(bucket string) []string {
	return []string{
		fmt.Sprintf(`{ service: "%s*.>", account_token_position: 3 }`, subject(bucket)),
		fmt.Sprintf(`{ stream: "%s>" }`, liveSubject(bucket)),
		fmt.Sprintf(`{ service: "%s", response_type: stream }`, apiPrefixes[0]+"DIRECT.GET.KV_"+bucket),
	}
}

// Imports returns what the account of a node imports from the account with the bucket.
func Imports(account, bucket, node string) []string {
	get := "DIRECT.GET.KV_" + bucket
	return []string{
		fmt.Sprintf(`{ service: { account: %s, subject: "%s%s.>" } }`, account, subject(bucket), node),
		fmt.Sprintf(`{ stream: { account: %s, subject: "%s>" } }`, account, liveSubject(bucket)),
		fmt.Sprintf(`{ service: { account: %s, subject: "%s" }, to: "%s" }`, account, apiPrefixes[0]+get, apiPrefixes[1]+get),
	}
}

// apiPrefixes are the prefixes of the JetStream API: in the account with the bucket, and as the account of a node imports it.
var apiPrefixes = [...]string{"$JS.API.", "candor.api."}

// readBucket passes the values in the bucket to the gateway.
func (b *Bus) readBucket(conn *nats.Conn) error {
	for _, kind := range kinds {
		err := b.readKind(conn, apiPrefixes[0], kind)
		if errors.Is(err, errNoBucket) {
			err = b.readKind(conn, apiPrefixes[1], kind)
		}
		if err != nil {
			return fmt.Errorf("the bucket %s cannot be read: %w", b.bucket, err)
		}
	}
	return nil
}

var errNoBucket = errors.New("there is no such bucket, or no right to read it")

// readKind reads the last values of one kind.
func (b *Bus) readKind(conn *nats.Conn, prefix, kind string) error {
	request, err := json.Marshal(map[string]any{"multi_last": []string{subject(b.bucket) + kind}, "batch": maxRead})
	if err != nil {
		return err
	}
	inbox, err := conn.SubscribeSync(conn.NewInbox())
	if err != nil {
		return err
	}
	defer inbox.Unsubscribe() //nolint:errcheck // the connection may be closed
	if err := conn.PublishRequest(prefix+"DIRECT.GET.KV_"+b.bucket, inbox.Subject, request); err != nil {
		return err
	}
	deadline := time.Now().Add(readTimeout)
	for range maxRead + 1 {
		m, err := inbox.NextMsg(time.Until(deadline))
		if errors.Is(err, nats.ErrNoResponders) {
			return errNoBucket
		}
		if err != nil {
			return err
		}
		switch status := m.Header.Get("Status"); status {
		case "":
			if m.Header.Get("Nats-Subject") == "" { // an account without JetStream says so
				return errNoBucket
			}
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
		case "Nats-Request-Info": // the account of the publisher
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
	if name, ok := strings.CutPrefix(m.Header.Get("Nats-Subject"), subject(b.bucket)); ok {
		b.pass(name, m.Data, time.Since(at))
	}
}
