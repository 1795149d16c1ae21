package browser

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/candor-mcp/candor/internal/netpolicy"
)

// launchAndWait launches a session, prints its profile and waits to be killed.
func launchAndWait() {
	path, _ := os.Executable()
	c := Config{Guard: []string{path, "guard"}}.withDefaults()
	c.Policy = netpolicy.Policy{}
	chromium, err := find("")
	if err != nil {
		fmt.Println("error", err)
		return
	}
	s, err := open(context.Background(), "x", c, chromium)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(s.browser.profile)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
