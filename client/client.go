// Package client reads the failures of MCP servers for clients that are built on the official go-sdk. The server need not be
// built on Candor.
//
// # How do I find out why a call failed?
//
// Pass both values that CallTool returned to [Decode]. It returns nil for a success, else one typed error with a code, a class,
// retry advice and an origin:
//
//	result, err := session.CallTool(ctx, params)
//	if e := client.Decode(result, err); e != nil {
//		log.Printf("%s: %s (%s)", e.Code(), e.Message(), e.Retry())
//	}
//
// Use [DecodeError] for the error of any other method, such as ReadResource.
//
// # When may I repeat a call?
//
// Let a [Caller] decide. It waits as long as the error asks for and repeats a call only if a second call cannot have a second
// effect.
//
// # What if a server reports failures as successes?
//
// [DecodeSuspected] also returns an error for a result that only looks like a failure, with a confidence below 1.
package client
