// Command candor may print.
package main

import "fmt"

func main() {
	fmt.Println("ok")
}
