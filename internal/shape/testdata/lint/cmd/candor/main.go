// Command candor may print.
package main

import (
	"fmt"

	"github.com/candor-mcp/candor"
)

func main() {
	candor.CodeX = 2
	fmt.Println("ok")
}
