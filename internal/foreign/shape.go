package foreign

// The shapes of texts. The shapes of JSON payloads are in variant.go.
const (
	ShapePlain      = "plain"
	ShapeMasked     = "masked-generic"
	ShapeTSPrefix   = "ts-sdk-prefix"
	ShapePyPrefix   = "python-sdk-prefix"
	ShapeFastMCP    = "fastmcp-prefix"
	ShapeToolFailed = "tool-failed-prefix"
	ShapeValidation = "validation-prefix"
	ShapeBracket    = "bracket-code"
	ShapeCodePrefix = "code-prefix"
	ShapeRefuse     = "refuse-prefix"
	ShapeException  = "exception-prefix"
	ShapeNoTool     = "unknown-tool"
	ShapeHTML       = "html-page"
	ShapeHTTPText   = "http-status-text"
	ShapeErrnoText  = "errno-text"
	ShapeNetText    = "network-text"
	ShapeFieldText  = "field-text"
	ShapeTrace      = "stack-trace"
	ShapePydantic   = "pydantic-report"
	ShapeGoSDK      = "go-sdk-validating"
	ShapeGoJSON     = "go-json-error"
	ShapeMCPGo      = "mcp-go-structs"
	ShapeAjv        = "ajv-text"
	ShapeJSONSchema = "json-schema-text"
	ShapeSerde      = "serde-text"
	ShapeZodLines   = "zod-lines"
	ShapePathList   = "path-list"
	ShapeMarked     = "marked-place"
)

// ranks order the shapes of text by how specific they are. JSON payloads and reports of validators are the most specific and have
// no entry; among equals the outermost wins.
var ranks = map[string]int{
	ShapePlain: 1, ShapeMasked: 2, shapeObject: 1, ShapeContent: 2, "result-wrapper": 3, "data-wrapper": 3, "message-member": 4,
	ShapeFieldText: 4, ShapeHTTPText: 4, ShapeErrnoText: 4, ShapeNetText: 3, ShapeTrace: 3, ShapeException: 3, ShapeNoTool: 5,
	ShapeValidation: 5, ShapeToolFailed: 5, ShapeTSPrefix: 6, ShapePyPrefix: 6, ShapeFastMCP: 6,
	ShapeBracket: 7, ShapeCodePrefix: 7, ShapeRefuse: 7,
}

func rank(shape string) int {
	if n, ok := ranks[shape]; ok {
		return n
	}
	return 10
}

// shape records a layer. The most specific layer becomes the shape of the whole.
func (r *reader) shape(name string) {
	s := &r.said
	for _, have := range s.Layers {
		if have == name {
			return
		}
	}
	if len(s.Layers) < maxLayers {
		s.Layers = append(s.Layers, name)
	}
	if s.Shape == "" || rank(name) > rank(s.Shape) {
		s.Shape = name
	}
}

const maxLayers = 12

// Shapes lists every shape that [Said] may name, in no particular order.
func Shapes() []string {
	out := []string{ShapePlain, ShapeMasked, ShapeTSPrefix, ShapePyPrefix, ShapeFastMCP, ShapeToolFailed, ShapeValidation, ShapeBracket, ShapeCodePrefix, ShapeRefuse, ShapeException,
		ShapeNoTool, ShapeHTML, ShapeHTTPText, ShapeErrnoText, ShapeNetText, ShapeFieldText, ShapeTrace, ShapePydantic, ShapeGoSDK, ShapeGoJSON, ShapeMCPGo, ShapeAjv, ShapeJSONSchema,
		ShapeSerde, ShapeZodLines, ShapePathList, ShapeMarked, ShapeErrorBlock, ShapeRejected, ShapeErrorItems, ShapeZodIssues, ShapeAjvList, ShapeFieldViolations, ShapeIssueList, shapeObject}
	for _, v := range variants {
		if !contains(out, v.shape) {
			out = append(out, v.shape)
		}
	}
	return out
}
