// Command candor reads, explains and translates the failures of MCP servers.
package main

import "os"

func main() {
	os.Exit(run(system(), os.Args[1:]))
}
