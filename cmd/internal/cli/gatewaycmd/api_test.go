package gatewaycmd

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestAPIRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatalf("version %q, %v", doc.OpenAPI, err)
	}
	var described, served []string
	for path, methods := range doc.Paths {
		for method := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	for _, route := range apiRoutes {
		served = append(served, route.method+" "+apiRoot+route.path)
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described are %q, but served are %q", described, served)
	}
}
