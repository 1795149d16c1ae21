// Package implname reads the name of a server of the official SDK, without importing it.
package implname

import (
	"reflect"

	"github.com/candor-mcp/candor"
)

const maxName = 100

// Of returns the name in the mcp.Implementation that an *mcp.Server was made with, or "" if it is unknown. The SDK shows the name to clients
// only, and a client may call a tool before it asks for it. So Of reads the field of the SDK by its name; a test notices if that changes.
func Of(server any) string {
	value := reflect.Indirect(reflect.ValueOf(server))
	for _, field := range []string{"impl", "Name"} {
		if value.Kind() != reflect.Struct {
			return ""
		}
		value = reflect.Indirect(value.FieldByName(field))
	}
	if value.Kind() != reflect.String {
		return ""
	}
	return candor.Public(value.String(), maxName)
}
