// Package jsonrpc is a stub of the go-sdk's.
package jsonrpc

type Error struct {
	Code    int64
	Message string
}

func (e *Error) Error() string { return e.Message }
