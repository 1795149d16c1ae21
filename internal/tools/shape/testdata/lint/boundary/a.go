// Package boundary may see the SDK.
package boundary

import "github.com/modelcontextprotocol/go-sdk/mcp"

// X is teh same.
var X = mcp.X
