package fakeupstream

import (
	"net"
	"strings"
	"testing"
)

func TestEventsCountForTheirWindow(t *testing.T) {
	up, err := open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", up.sharedDir.socket())
	if err != nil {
		t.Fatal(err)
	}
	inner, settled, ended := newLink(conn), make(chan struct{}, 8), make(chan struct{})
	go func() { // a half that reports an event at the end and at the beginning of every window
		defer close(ended)
		for {
			word, rest, err := inner.receive()
			if err != nil {
				return
			}
			if window, _, _ := strings.Cut(rest, " "); word == sayFault {
				inner.send(sawRequest)
				inner.send(sawSettled + " " + window)
				inner.send(sawRequest)
				settled <- struct{}{}
			}
		}
	}()
	<-settled
	for range 3 {
		up.Begin(NotFound)
		<-settled
		if hits := up.End(); hits != 2 {
			t.Errorf("%d hits, want the first and the last of the window", hits)
		}
		<-settled
	}
	if err := up.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	if err := up.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	up.Begin(Down) // by a half that has not read it yet
	if hits := up.End(); hits != 0 {
		t.Errorf("%d hits after the end", hits)
	}
}
