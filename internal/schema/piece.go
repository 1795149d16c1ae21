package schema

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/pointer"
)

// piece returns the schema at a location as it was written, nil if it is a boolean or not part of this document.
func (s *Schema) piece(location string) map[string]any {
	fragment, own := strings.CutPrefix(location, address+"#")
	if !own {
		return nil
	}
	at := s.doc
	for _, step := range strings.Split(fragment, "/")[1:] {
		step, err := url.PathUnescape(step)
		if err != nil {
			return nil
		}
		step = pointer.Unescape(step)
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	piece, _ := at.(map[string]any)
	return piece
}

// described are the keywords of a key's schema that are shown. The others are long or not helpful, or the caller has read them.
var described = []string{
	"type", "enum", "const", "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "minItems", "maxItems", "items", "required", "anyOf", "oneOf",
}

// describe returns the shown keywords of a key's schema, or nil if it has none of them.
func describe(piece map[string]any) any {
	shown := map[string]any{}
	for _, keyword := range described {
		if v, has := piece[keyword]; has {
			shown[keyword] = shorten(v, 0)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	return shown
}

// Bounds of a piece of the schema that is shown.
const (
	maxPiece      = 4096 // bytes in all
	maxPieceText  = 160
	maxPieceItems = 20
	maxPieceDepth = 3
)

// shorten copies a piece of the schema, cut to a readable length.
func shorten(v any, depth int) any {
	switch v := v.(type) {
	case string:
		return candor.Public(v, maxPieceText)
	case map[string]any:
		if depth >= maxPieceDepth {
			return "…"
		}
		short := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(short) == maxPieceItems {
				break
			}
			short[candor.Public(name, maxKeyShown)] = shorten(v[name], depth+1)
		}
		return short
	case []any:
		if depth >= maxPieceDepth {
			return "…"
		}
		var short []any
		for _, item := range v[:min(len(v), maxPieceItems)] {
			short = append(short, shorten(item, depth+1))
		}
		if len(v) > maxPieceItems {
			short = append(short, "…")
		}
		return short
	default:
		return v
	}
}

// brief returns a piece if it is short enough to be shown.
func brief(piece any) any {
	if raw, err := json.Marshal(piece); err != nil || len(raw) > maxPiece {
		return nil
	}
	return piece
}
