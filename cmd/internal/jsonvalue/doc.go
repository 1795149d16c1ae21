// Package jsonvalue works with decoded JSON values: map[string]any, []any, string, bool, nil and numbers.
//
// Numbers are compared and written exactly, by their decimal digits. A number is a [json.Number], which keeps what was
// received, or one of float64, int and int64. Any other Go type is not a JSON value. No function here panics or does I/O.
package jsonvalue
