package vet

import (
	"go/types"
	"strings"
)

// requests are the types of a handler's second parameter. For the go-sdk they are the parameters inside its ServerRequest.
var requests = map[string]bool{
	"CallToolParamsRaw": true, "GetPromptParams": true, "ReadResourceParams": true, // go-sdk
	"CallToolRequest": true, "GetPromptRequest": true, "ReadResourceRequest": true, // mcp-go
}

// clientVerbs are methods with which clients call tools. Those of mcp-go have the signature of a handler.
var clientVerbs = map[string]bool{"CallTool": true, "GetPrompt": true, "ReadResource": true}

// isHandler reports whether a signature is that of a handler for tools, prompts or resources: a context, a request of an SDK
// and optional arguments; results, and an error as the last of them. Every function that is passed to AddTool has this form.
func isHandler(sig *types.Signature) bool {
	params, results := sig.Params(), sig.Results()
	return params.Len() >= 2 && params.Len() <= 3 && results.Len() >= 2 && results.Len() <= 3 &&
		isNamed(params.At(0).Type(), "context", "Context") &&
		isRequest(params.At(1).Type()) &&
		types.Identical(results.At(results.Len()-1).Type(), errorType)
}

func isRequest(t types.Type) bool {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok || !isSDKModel(n.Obj()) {
		return false
	}
	if n.Obj().Name() == "ServerRequest" && n.TypeArgs().Len() == 1 {
		inner := named(n.TypeArgs().At(0))
		return inner != nil && requests[inner.Name()]
	}
	return pathOf(n.Obj()) == mcpGoPath+"/mcp" && requests[n.Obj().Name()]
}

// isResult reports whether a type is the result of a handler.
func isResult(t types.Type) bool {
	name := named(t)
	if name == nil || !isSDKModel(name) {
		return false
	}
	switch name.Name() {
	case "CallToolResult", "GetPromptResult", "ReadResourceResult":
		return true
	}
	return false
}

// isSDKModel reports whether a type is declared in the package mcp of an SDK.
func isSDKModel(name *types.TypeName) bool {
	path := pathOf(name)
	return ofSDK(path) && strings.HasSuffix(path, "/mcp")
}

func isNamed(t types.Type, path, name string) bool {
	n := named(t)
	return n != nil && pathOf(n) == path && n.Name() == name
}
