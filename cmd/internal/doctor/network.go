package doctor

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// connectTimeout bounds the attempt to reach an address of this machine.
const connectTimeout = 3 * time.Second

// listenCheck tries to listen on the addresses of the gateway.
func (e *examination) listenCheck(ctx context.Context) []Finding {
	f := e.config.file
	if f == nil {
		return one(skipped("no configuration of a gateway was read"))
	}
	if e.Found && !config.IsLocal(f.Listen) { // nothing is sent to an address that someone else has chosen
		return one(skipped("not tried: " + FoundHere).about(f.Listen))
	}
	findings := one(listenOn(ctx, f.Listen, "listen"))
	if f.Admin != "" {
		findings = append(findings, listenOn(ctx, f.Admin, "admin"))
	}
	return findings
}

func listenOn(ctx context.Context, address, key string) Finding {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		_ = l.Close() // no client has connected
		return ok("the address " + address + " is free").about(address)
	case isGateway(ctx, address):
		return ok("a gateway already listens on " + address).about(address)
	}
	return failed("address-in-use", "the gateway cannot listen on "+address+": "+listenCause(err),
		"stop the process that uses this port, or choose another address with "+key+": in the file").about(address)
}

func listenCause(err error) string {
	if op, isOp := errors.AsType[*net.OpError](err); isOp {
		return op.Err.Error()
	}
	return err.Error()
}

// isGateway reports whether a gateway answers at an address: its pages for health and for an unknown path say so.
func isGateway(ctx context.Context, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	base := "http://" + net.JoinHostPort(host, port)
	body, _ := get(ctx, base+"/healthz")
	return body == "ok\n" || body == "draining\n" || strings.Contains(body, "There is no upstream at this path.")
}

// get returns the first bytes of a page of this machine.
func get(ctx context.Context, page string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	return string(body), err
}
