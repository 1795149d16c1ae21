// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

// Package misc has the codes of the domain misc: failures without a more exact code.
package misc

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/codetable"
)

// The codes of the domain misc.
var (
	// Misc is misc/E_MISC, number 2900. Something failed that has no code of its own yet.
	Misc = candor.CodeAt(codetable.At(44))
)
