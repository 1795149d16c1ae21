package zoo

import (
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// The texts that leak. None of them is real; the secrets contain the mark of probe.
const (
	leakStack = "\n    at readRecord (file:///srv/zoo/dist/records.js:41:13)\n    at async callTool (file:///srv/zoo/dist/server.js:207:22)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)"
	leakPanic = "\npanic: runtime error: index out of range [5] with length 3\n\ngoroutine 18 [running]:\nmain.(*store).read(0xc0000b4000, {0xc0000a6010, 0x11})\n\t/srv/zoo/store.go:57 +0x1b4"
	leakPath  = "\nENOENT: no such file or directory, open '/home/keeper/zoo/records/missing.json'"
	leakURL   = "\nconnect failed: postgres://keeper:zz9secret-pass@db.zoo.example:5432/records"
	leakToken = "\nrequest headers: Authorization: Bearer zz9secret0123456789abcdefABCDEF"
)

// hugeError is the length of an oversized error.
const hugeError = 200 << 10

// echoSchema accepts a text that is long enough for a visible echo.
const echoSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","minLength":1,"maxLength":4096,"description":"Which record."},` +
	`"mode":{"type":"string","enum":["brief","full"]}},"required":["name","mode"],"additionalProperties":false}`

// contents are failures with wrong content in the result.
func contents() []implementation {
	leaks := func(more string) func(*call) answer {
		return func(c *call) answer {
			return one(withText(c.candorFailure(c.err), func(text string) string { return text + more }))
		}
	}
	return []implementation{
		{Defect: defect("leak-stack", "a stack trace", "A missing record is reported with a stack trace of JavaScript.", "EC031"), on: whenMissing, show: leaks(leakStack)},
		{Defect: defect("leak-panic", "a panic", "A missing record is reported with the text of a Go panic.", "EC031"), on: whenMissing, show: leaks(leakPanic)},
		{Defect: defect("leak-path", "an absolute path", "A missing record is reported with the absolute path of a file.", "EC031"), on: whenMissing, show: leaks(leakPath)},
		{Defect: defect("leak-url", "the password in an address", "A missing record is reported with the address of a database, its password included.", "EC016"), on: whenMissing, show: leaks(leakURL)},
		{Defect: defect("leak-token", "a token", "A missing record is reported with the header that holds the token.", "EC016"), on: whenMissing, show: leaks(leakToken)},
		{Defect: defect("second-block", "the error behind another block", "A missing record is reported in the second block; the first is a link.", "EC017"),
			on: whenMissing, show: func(c *call) answer {
				frame := c.candorFailure(c.err)
				m := wire.Parse(frame, wire.Limits{})
				out, err := splice.Edits(nil, m.Value(), splice.Edit{Path: []string{"result", "content"}, Insert: true,
					Value: []byte(`{"type":"resource_link","uri":"` + resourceURI + `","name":"alpha"}`)})
				if err != nil {
					return one(frame)
				}
				return one(out)
			}},
		{Defect: defect("output-conflict", "an error that violates the outputSchema", "A failure has structuredContent that does not conform to the outputSchema of the tool.", "EC018"),
			on: whenFailing, output: outputSchema, show: func(c *call) answer {
				return one(edited(c.candorFailure(c.err), `{"code":`+quote(c.err.Code().String())+`,"message":`+quote(c.err.Message())+`}`, "result", "structuredContent"))
			}},
		{Defect: defect("error-block", "a block of the type error", "A missing record is reported in a content block of the type error, which does not exist.", "EC019"),
			on: whenMissing, show: func(c *call) answer {
				return one(edited(c.candorFailure(c.err), `"error"`, "result", "content", "0", "type"))
			}},
		{Defect: defect("huge-error", "an error of 200 KiB", "A missing record is reported in a text of more than 200 KiB.", "EC020"),
			on: whenMissing, show: leaks("\n" + strings.Repeat("the record was not found; ", hugeError/26+1))},
		{Defect: defect("input-echo", "the arguments come back in the error", "Wrong arguments are repeated in the error, however long they are.", "EC024", probe.CaseTooLong),
			on: whenInput, input: echoSchema, show: func(c *call) answer { return leaks("\nReceived: " + string(c.arguments.Raw()))(c) }},
		{Defect: defect("null-result", "a result that is null", "A missing record is answered with a result that is null.", "EC039"),
			on: whenMissing, show: func(c *call) answer {
				return one([]byte(`{"jsonrpc":"2.0","id":` + string(c.message.ID()) + `,"result":null}`))
			}},
	}
}
