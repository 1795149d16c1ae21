package meter_test

import (
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/memorybank"
	"github.com/candor-mcp/candor/meter"
)

// A server counts the errors it sends, answers sys/errorStats with AppendStats and writes the last counters with Close.
func Example() {
	env := map[string]string{"MCP_ERROR_METRICS": "on"} // a server passes os.Getenv
	options, on, err := meter.FromEnv(func(name string) string { return env[name] })
	if err != nil || !on {
		fmt.Println("off", err)
		return
	}
	m, err := meter.New(options)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close() //nolint:errcheck // no file was asked for
	m.SetTools("mb/list", "mb/read")

	m.Count(candor.New(memorybank.FileNotFound, "", candor.WithTool("mb/read")), "tool")
	m.Count(candor.New(candor.CodeMethodNotFound, ""), "protocol")

	fmt.Println(string(m.AppendStats(nil)))
	// Output:
	// {"total":2,"byCode":{"-32601":1,"2300":1},"byDomain":{"candor":1,"memory-bank":1},"bySymbol":{"E_MB_FILE_NOT_FOUND":1,"METHOD_NOT_FOUND":1},"byTool":{"mb/read":{"tool":1},"none":{"protocol":1}},"suppressed":0,"suspected":0,"unrecorded":0}
}
