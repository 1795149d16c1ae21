package gatewaybench

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/internal/tools/conformance"
)

// The proxies from npm, with their default settings: they serve a server over stdio to HTTP clients.
var (
	supergateway = conformance.Package{Name: "supergateway", Version: "4.0.0"}
	mcpProxy     = conformance.Package{Name: "mcp-proxy", Version: "6.7.19"}
)

// throughSupergateway keeps one server per session, as candor does; otherwise it would start one for each call.
func throughSupergateway(b *testing.B, callers int) load.Callers {
	b.Helper()
	at := freePort(b)
	npm(b, supergateway, "dist/index.js", "--stdio", os.Args[0], "--outputTransport", "streamableHttp", "--stateful",
		"--logLevel", "none", "--port", port(b, at))
	return posted(b, at, callers)
}

func throughMCPProxy(b *testing.B, callers int) load.Callers {
	b.Helper()
	at := freePort(b)
	npm(b, mcpProxy, "dist/bin/mcp-proxy.mjs", "--server", "stream", "--host", "127.0.0.1", "--port", port(b, at), "--", os.Args[0])
	return posted(b, at, callers)
}

// npm starts a package's program in front of the server, and installs it first if necessary.
func npm(b *testing.B, p conformance.Package, program string, args ...string) {
	b.Helper()
	box, err := conformance.OpenToolbox()
	must(b, err)
	must(b, box.Fetch(b.Context(), b.Logf, p))
	modules, err := box.Modules(p)
	must(b, err)
	node, err := box.Node(b.Context())
	must(b, err)
	proxy := start(b, []string{load.Env + "=" + load.Plain}, node, append([]string{filepath.Join(modules, p.Name, program)}, args...)...)
	go func() { _, _ = io.Copy(io.Discard, proxy.out) }() // discard its log
}

func port(b *testing.B, at string) string {
	b.Helper()
	_, number, err := net.SplitHostPort(at)
	must(b, err)
	return number
}

// nginxConf is a careful configuration of nginx for this purpose: connections to the server are kept open, and nothing is logged.
const nginxConf = `daemon off;
worker_processes auto;
pid DIR/pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
	access_log off;
	client_body_temp_path DIR/body; proxy_temp_path DIR/proxy;
	fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
	keepalive_requests 100000000;
	upstream server { server TARGET; keepalive 256; keepalive_requests 100000000; }
	server {
		listen LISTEN;
		location / { proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection ""; }
	}
}
`

// throughNginx returns nil if nginx is not installed.
func throughNginx(b *testing.B, target string, callers int) load.Callers {
	b.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		b.Log("nginx is left out, it is not installed: apt-get install nginx")
		return nil
	}
	dir, at := b.TempDir(), freePort(b)
	conf := filepath.Join(dir, "nginx.conf")
	must(b, os.WriteFile(conf, []byte(strings.NewReplacer("DIR", dir, "TARGET", target, "LISTEN", at).Replace(nginxConf)), 0o600))
	proxy := start(b, nil, program, "-p", dir, "-c", conf)
	go func() { _, _ = io.Copy(io.Discard, proxy.out) }()
	return posted(b, at, callers)
}
