package dialect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// envelopeSchemas names the schema in spec/schema for the bare envelope of every dialect.
var envelopeSchemas = map[string]string{
	"candor": "error", "system-error": "system-error", "tool-error": "tool-error", "rpc": "rpc-error", "dual": "dual",
	"dual-unified": "dual", "sep3313": "sep3313", "problem": "problem",
}

func compiledSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiled := make(map[string]*jsonschema.Schema)
	for name, file := range envelopeSchemas {
		s, err := compiler.Compile("../spec/schema/" + file + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		compiled[name] = s
	}
	return compiled
}

func validate(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestWhatIsReadIsWrittenAsTheSchemasSay(t *testing.T) {
	schemas := compiledSchemas(t)
	eachLiteral(t, func(t *testing.T, from dialect.Dialect, input wire.Value) {
		e, err := from.Read(input)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range dialect.Names() {
			d := lookup(t, name)
			bare := d.Encode(nil, e, fullView)
			if err := validate(t, schemas[name], bare); err != nil {
				t.Errorf("%s: %v\n%s", name, err, bare)
			}
			carrier := parse(t, d.Write(nil, e, fullView))
			if own, ok := dialect.Embedded(carrier); ok {
				if err := validate(t, schemas["candor"], own.Raw()); err != nil {
					t.Errorf("%s, the canonical error: %v\n%s", name, err, own.Raw())
				}
			}
			if text, _ := carrier.Path("content", 0, "text").Str(); strings.HasPrefix(text, "{") {
				if err := validate(t, schemas[name], []byte(text)); err != nil {
					t.Errorf("%s in a block: %v\n%s", name, err, text)
				}
			}
		}
	})
}

// TestSchemasRejectFaults checks that the schemas find a fault in each dialect.
func TestSchemasRejectFaults(t *testing.T) {
	schemas := compiledSchemas(t)
	for name, envelopes := range map[string][]string{
		"candor":       {`{}`, strings.Replace(strictForm, `"ref"`, `"extra":1,"ref"`, 1)},
		"tool-error":   {`{"code":"NOT_FOUND","message":"m"}`, `{"code":"NOT_FOUND","message":"m","retry":{"kind":"later"}}`},
		"rpc":          {`{"code":-32000,"message":"m"}`, `{"code":2400,"message":"m","data":{"domain":"kg"}}`},
		"dual":         {`{"ok":true,"data":{}}`, `{"ok":false,"error":{"code":"NOT_FOUND","message":"m","details":{"issues":[{"path":["a"]}]}}}`},
		"sep3313":      {`{"class":"weather","code":"NOT_FOUND","retryable":true,"correlationId":""}`},
		"system-error": {`{"error_code":"NOT_FOUND","human_message":"m"}`},
		"problem":      {`{"type":"about:blank","title":"x","status":404}`},
	} {
		for _, raw := range envelopes {
			if validate(t, schemas[name], []byte(raw)) == nil {
				t.Errorf("%s allows %s", name, raw)
			}
		}
	}
}
