// Package wire is planted.
package wire

import (
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// K is a kind.
type K int

// The kinds.
const (
	KA K = iota
	KB
)

// F plants.
func F(k K, a any) {
	fmt.Println(mcp.X, rand.Int())
	os.Remove("x")
	switch k {
	case KA:
	}
	_ = a.(string)
}
