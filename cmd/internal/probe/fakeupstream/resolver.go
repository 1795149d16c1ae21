package fakeupstream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
)

// maxQuestion is the largest query in bytes.
const maxQuestion = 4 << 10

// resolver is a DNS server over UDP. Every name has the addresses of the loopback and no other records.
type resolver struct {
	six bool // IPv6 is available
}

// serve listens on both loopbacks and answers until the process ends.
func (r *resolver) serve(ctx context.Context) error {
	listen := &net.ListenConfig{}
	for _, address := range []string{"127.0.0.1:53", "[::1]:53"} {
		if address[0] == '[' && !r.six {
			continue
		}
		packets, err := listen.ListenPacket(ctx, "udp", address)
		if err != nil {
			return fmt.Errorf("listening for DNS inside the namespace: %w", err)
		}
		go r.packets(packets)
	}
	return nil
}

func (r *resolver) packets(conn net.PacketConn) {
	question := make([]byte, maxQuestion)
	for {
		n, from, err := conn.ReadFrom(question)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if reply := r.reply(question[:n]); err == nil && reply != nil {
			_, _ = conn.WriteTo(reply, from) // the client asks again if it is lost
		}
	}
}

// The parts of a DNS message (RFC 1035, section 4) that are used here.
const (
	headerSize = 12
	typeA      = 1
	typeAAAA   = 28
	classIN    = 1
)

// reply returns the answer to a query with one question, nil if the message is not one.
func (r *resolver) reply(message []byte) []byte {
	if len(message) < headerSize || message[2]&0x80 != 0 || binary.BigEndian.Uint16(message[4:]) != 1 {
		return nil
	}
	end := headerSize
	for end < len(message) && message[end] != 0 {
		if message[end] > 63 { // a name in a question is not compressed
			return nil
		}
		end += 1 + int(message[end])
	}
	end += 5 // the root, type and class
	if end > len(message) {
		return nil
	}
	kind, class := binary.BigEndian.Uint16(message[end-4:]), binary.BigEndian.Uint16(message[end-2:])
	var address net.IP
	switch {
	case class == classIN && kind == typeA:
		address = net.IPv4(127, 0, 0, 1).To4()
	case class == classIN && kind == typeAAAA && r.six:
		address = net.IPv6loopback
	}
	reply := append([]byte{}, message[:2]...)
	// An authoritative answer that keeps the recursion-desired bit and offers recursion.
	reply = append(reply, 0x84|message[2]&0x01, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
	reply = append(reply, message[headerSize:end]...)
	if address == nil {
		return reply
	}
	reply[7] = 1
	reply = append(reply, 0xc0, headerSize) // the name in the question
	reply = binary.BigEndian.AppendUint16(reply, kind)
	reply = append(reply, 0, classIN, 0, 0, 0, 0) // TTL 0
	reply = append(reply, 0, byte(len(address)))
	return append(reply, address...)
}
