// Package serving lets package serve run a boundary without exporting how: package boundary sets its functions.
package serving

import (
	"context"
	"net"
)

var (
	// Stdio runs an *mcp.Server with a *boundary.Boundary on standard input and output.
	Stdio func(ctx context.Context, boundary, server any) error
	// HTTP runs them on a listener.
	HTTP func(ctx context.Context, boundary, server any, listener net.Listener) error
)
