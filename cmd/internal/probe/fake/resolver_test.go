package fake

import (
	"bytes"
	"testing"
)

// FuzzReply checks that no query makes the resolver panic, and that an answer keeps its id and its question.
func FuzzReply(f *testing.F) {
	question := []byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03api\x07example\x03com\x00\x00\x01\x00\x01")
	f.Add(question)
	f.Add(question[:len(question)-3])
	f.Add(append(question, 0xff, 0xff))
	f.Add([]byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"))
	f.Add(bytes.Repeat([]byte{0xff}, 600))
	f.Fuzz(func(t *testing.T, message []byte) {
		asked := 0
		reply := (&resolver{report: func(string) { asked++ }, six: true}).reply(message)
		if (reply != nil) != (asked == 1) {
			t.Fatalf("%d questions counted, answer %x", asked, reply)
		}
		if reply == nil {
			return
		}
		if !bytes.Equal(reply[:2], message[:2]) || len(reply) > len(message)+28 || reply[2]&0x80 == 0 {
			t.Errorf("%x is answered with %x", message, reply)
		}
	})
}

func TestResolverIgnoresOtherRecordTypes(t *testing.T) {
	for kind, want := range map[byte]int{1: 1, 28: 1, 15: 0, 33: 0, 65: 0} { // A, AAAA, MX, SRV, HTTPS
		question := []byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x00\x00\x01")
		question[16] = kind
		reply := (&resolver{report: func(string) {}, six: true}).reply(question)
		if len(reply) < headerSize || int(reply[7]) != want || reply[3]&0x0f != 0 {
			t.Errorf("type %d: %x, want %d answers and no error", kind, reply, want)
		}
	}
}
