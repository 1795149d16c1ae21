package fakeupstream

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
		reply := (&resolver{six: true}).reply(message)
		if reply == nil {
			return
		}
		if !bytes.Equal(reply[:2], message[:2]) || len(reply) > len(message)+28 || reply[2]&0x80 == 0 {
			t.Errorf("%x is answered with %x", message, reply)
		}
	})
}
