// Command candor prints.
package main

import "fmt"

func main() { fmt.Println("ok") }
