package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// connectTimeout bounds the attempt to reach a proxy or an address of this machine.
const connectTimeout = 3 * time.Second

// listenCheck tries to listen on the addresses of the gateway.
func (e *examination) listenCheck(ctx context.Context) []Finding {
	f := e.config.file
	if f == nil {
		return one(skipped("no configuration of a gateway was read"))
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

// proxyVariables are the variables that programs read.
var proxyVariables = []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"}

// proxyCheck connects to the proxies through which HTTP servers are reached.
func (e *examination) proxyCheck(ctx context.Context) []Finding {
	var set []string
	for _, name := range proxyVariables {
		if e.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return one(ok("no proxy is set"))
	}
	names := strings.Join(set, ", ")
	var findings []Finding
	seen := map[string]bool{}
	for _, s := range e.servers() {
		if s.url == nil {
			continue
		}
		proxy, err := http.ProxyFromEnvironment(&http.Request{URL: s.url})
		if err != nil {
			return one(failed("proxy-invalid", names+": not the address of a proxy", "such as http://proxy.example:3128"))
		}
		if proxy == nil || seen[proxy.Host] {
			continue
		}
		seen[proxy.Host] = true
		findings = append(findings, e.reachProxy(ctx, proxy.Hostname(), proxy.Port(), s).about(proxy.Host))
	}
	if len(findings) == 0 {
		return one(ok(names + " is set, and no configured HTTP server is reached through it; started servers inherit it"))
	}
	return findings
}

func (e *examination) reachProxy(ctx context.Context, host, port string, s target) Finding {
	if port == "" {
		port = "80"
	}
	address := net.JoinHostPort(host, port)
	if e.NoStart {
		return ok(fmt.Sprintf("%s is reached through the proxy %s", s.name, address))
	}
	c, err := (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return failed("proxy-unreachable", fmt.Sprintf("%s is reached through the proxy %s, which does not answer: %s", s.name, address, listenCause(err)),
			"correct the variable, or add "+s.url.Hostname()+" to NO_PROXY")
	}
	_ = c.Close() // nothing was sent
	return ok(fmt.Sprintf("%s is reached through the proxy %s", s.name, address))
}
