// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package misc has the codes of the domain misc: failures without a more exact code.
package misc

import "github.com/candor-mcp/candor"

// The codes of the domain misc.
const (
	// Misc is misc/E_MISC. The failure does not have its own code yet.
	Misc candor.Code = 2900
)
