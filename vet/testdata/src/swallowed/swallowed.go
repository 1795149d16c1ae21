// Package swallowed holds errors that handlers drop.
package swallowed

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type in struct{ N string }

func drops(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, any, error) {
	n, _ := strconv.Atoi(args.N)      // want `swallowed: the error of strconv.Atoi is dropped; return candor.From\(err\), or say why not: //candor:allow swallowed REASON \(docs/vet.md\)`
	_ = os.WriteFile("a", nil, 0o600) // want `swallowed: the error of os.WriteFile is dropped`
	os.WriteFile("b", nil, 0o600)     // want `swallowed: the error of os.WriteFile is dropped`
	json.Unmarshal(nil, &n)           // want `swallowed: the error of json.Unmarshal is dropped`
	text, _ := json.Marshal(map[string]any{"n": n})
	float, _ := json.Marshal([]float64{1})
	own, _ := json.Marshal(struct{ E json.Number }{})
	if err := os.Chdir("b"); err != nil { // want `swallowed: this error is tested and then ignored`
	}
	if err := os.Chdir("c"); err != nil { // want `swallowed: this error is tested and then ignored`
		_ = err
	}
	_, err := os.Stat("d")
	_ = err // want `swallowed: this error is dropped`
	func() {
		_ = os.Chdir("e") // want `swallowed`
	}()
	return nil, string(text) + string(float) + string(own), nil
}

func returns(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	data, err := os.ReadFile("a")
	if err != nil {
		return nil, nil // want `swallowed: there is an error here, and the function returns success`
	}
	if err := os.Chdir("b"); err != nil {
		return &mcp.CallToolResult{}, nil // want `swallowed`
	}
	if err := os.Chdir("c"); err != nil {
		log.Print(err)
		return say("hello"), nil // want `swallowed`
	}
	return say(string(data)), nil
}

func recovers(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	defer func() { recover() }() // want `swallowed: a panic ends here and is not reported`
	defer func() {               // want `swallowed`
		if r := recover(); r != nil {
			log.Print(r)
		}
	}()
	return nil, nil
}

func say(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func errorResult(s string) *mcp.CallToolResult {
	res := say(s)
	res.IsError = true
	return res
}

// What follows is as it should be.

func fine(ctx context.Context, req *mcp.CallToolRequest, args in) (res *mcp.CallToolResult, _ any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	defer func() {
		_ = os.Chdir("home")
	}()
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%d", 1)
	_, _ = b.WriteString("x")
	var buf bytes.Buffer
	_, _ = io.WriteString(&buf, "y")
	_, _ = buf.Write(nil)
	h := sha256.New()
	_, _ = h.Write([]byte("z"))
	_, _ = rand.Read(make([]byte, 8))
	text, _ := json.Marshal(map[string]string{"a": "b"})
	listed, _ := json.MarshalIndent([]struct{ N *int }{}, "", " ")
	_ = req.Session.NotifyProgress(ctx, nil)
	f, err := os.Open("a")
	if err != nil {
		return errorResult("there is no a"), nil, nil
	}
	_ = f.Close()
	if err := f.Close(); err != nil {
	}
	_ = os.Remove("tmp")
	found, _ := map[string]error{}["x"]
	if found != nil {
		return errorResult("found"), nil, nil
	}
	if _, err := os.Stat("b"); err != nil {
		return &mcp.CallToolResult{IsError: true}, nil, nil
	}
	if _, err := os.Stat("c"); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	n, err := strconv.Atoi(args.N)
	if err != nil {
		n = 10
	}
	if _, err := os.Stat("d"); err != nil {
		n++
		return nil, n, nil
	}
	m, _ := strconv.Atoi(args.N) //candor:allow swallowed zero is the default
	return nil, m + len(text) + len(listed), nil
}

// elsewhere is not a handler.
func elsewhere() { _ = os.Chdir("a") }
