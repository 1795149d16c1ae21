package fake

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// The limits of a TCP connection to the resolver.
const (
	maxQuestion = 4 << 10
	maxCallers  = 64
	callerWait  = 10 * time.Second
)

// resolver is a DNS server. Every name has the addresses of the loopback and no other records.
type resolver struct {
	report func(event string)
	six    bool // IPv6 is available
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
		callers, err := listen.Listen(ctx, "tcp", address)
		if err != nil {
			return errors.Join(fmt.Errorf("listening for DNS inside the namespace: %w", err), packets.Close())
		}
		go r.packets(packets)
		go r.callers(callers)
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

func (r *resolver) callers(listener net.Listener) {
	seats := make(chan struct{}, maxCallers)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		seats <- struct{}{}
		go func() {
			defer func() {
				_ = conn.Close()
				<-seats
			}()
			_ = conn.SetDeadline(time.Now().Add(callerWait))
			r.converse(conn)
		}()
	}
}

// converse answers DNS queries over TCP, with a length before each message.
func (r *resolver) converse(conn io.ReadWriter) {
	question := make([]byte, maxQuestion)
	for {
		if _, err := io.ReadFull(conn, question[:2]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint16(question))
		if n > maxQuestion {
			return
		}
		if _, err := io.ReadFull(conn, question[:n]); err != nil {
			return
		}
		reply := r.reply(question[:n])
		if reply == nil {
			return
		}
		framed := binary.BigEndian.AppendUint16(nil, uint16(len(reply))) //nolint:gosec // a reply is a question and at most 28 bytes
		if _, err := conn.Write(append(framed, reply...)); err != nil {
			return
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
	r.report(sawLookup)
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
