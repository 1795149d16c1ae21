package argerror

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/schema"
)

func TestArgumentsAreMendedFromTheErrorAlone(t *testing.T) {
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	e := Arguments(s, []byte(`{"pth":"secret value"}`), candor.PartyGateway)
	if e.Code() != candor.CodeInvalidArguments || len(e.Details().Issues()) != 2 || e.Origin().By != candor.PartyGateway {
		t.Fatalf("%+v", e)
	}
	if text := e.Details().String(); strings.Contains(text, "secret value") {
		t.Errorf("a value of the caller is repeated: %s", text)
	}
	template := e.Details().Get("correctTemplate").String()
	if again := Arguments(s, []byte(template), candor.PartyGateway); again != nil {
		t.Errorf("the template %s does not pass: %v", template, again)
	}
	if e := Arguments(s, []byte(`{"path":"a"}`), candor.PartyGateway); e != nil {
		t.Errorf("good arguments: %v", e)
	}
}

func TestAnUnknownToolIsToldItsNeighbours(t *testing.T) {
	e := UnknownTool("raed_file", []string{"read_file", "write_file", "search"}, candor.PartyServer)
	if e.Code() != candor.CodeToolNotFound || !strings.Contains(e.Suggestion(), `"read_file"`) || strings.Contains(e.Suggestion(), "search") {
		t.Errorf("%+v", e)
	}
}
