package stdio

import (
	"context"
	"fmt"
	"os"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

// WrapEnv makes the test binary a gateway in front of the measured server. Its value is that of load.Env for the server.
const WrapEnv = "CANDOR_TEST_WRAP"

func wrapMain() int {
	child := Child{Command: os.Args[0], Env: append(os.Environ(), load.Env+"="+os.Getenv(WrapEnv), WrapEnv+"=")}
	exit, err := Wrap(context.Background(), gateway.New(gateway.Options{}), Streams{In: os.Stdin, Out: os.Stdout}, child)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return exit.Code
}
