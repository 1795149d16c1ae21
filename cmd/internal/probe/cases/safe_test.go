package cases_test

import (
	"encoding/json"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
	"github.com/candor-mcp/candor/internal/probe"
)

const closedSchema = `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`

// TestToolWithoutArgumentsIsCalledOnlyIfAllowed has tools that a lax server would run for null, an array or a string,
// because it treats each of them as no arguments.
func TestToolWithoutArgumentsIsCalledOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	for _, tool := range []probe.Tool{
		tool("reset_database", `{"type":"object"}`, false), tool("anything", `true`, false), {Name: "without_schema"},
		tool("wipe", `{"type":"object","properties":{"force":{"type":"boolean"}}}`, false),
		tool("unusable", `{"type":"object","properties":{"a":{"type":"nonsense"}},"required":["a"]}`, false),
	} {
		all, skipped := cases.Plan([]probe.Tool{tool}, cases.Options{NoProtocol: true})
		for i := range all {
			t.Errorf("%s is called with %s", tool.Name, all[i].Params)
		}
		if len(skipped) != 1 {
			t.Errorf("%s: %v", tool.Name, skipped)
		}
		if all, _ := cases.Plan([]probe.Tool{tool}, cases.Options{NoProtocol: true, Yes: true}); named(all, probe.CaseArgsNull) == nil {
			t.Errorf("%s is not called where it may be", tool.Name)
		}
	}
}

// TestUnknownArgumentsAreNotSentToWritingTools has a call whose unknown arguments most validators strip before they
// carry it out.
func TestUnknownArgumentsAreNotSentToWritingTools(t *testing.T) {
	t.Parallel()
	all, _ := cases.Plan([]probe.Tool{tool("file_issue", closedSchema, false)}, cases.Options{NoProtocol: true})
	if c := named(all, probe.CaseExtraProperty); c != nil {
		t.Errorf("it is called with %s", c.Params)
	}
	if named(all, probe.CaseMissingRequired) == nil || named(all, probe.CaseArgsNull) == nil {
		t.Error("what must be refused is left out, too")
	}
	all, _ = cases.Plan([]probe.Tool{tool("find_issue", closedSchema, true)}, cases.Options{NoProtocol: true})
	if named(all, probe.CaseExtraProperty) == nil {
		t.Error("a tool that reads is not asked")
	}
}

func TestReadOnlyHintIsTrustedUnlessContradicted(t *testing.T) {
	t.Parallel()
	for name, believed := range map[string]bool{
		"delete_file": false, "dropTable": false, "mail-send": false, "HTTPWrite": false, "fs_write_file": false,
		"remove_all_from_list": false, "delete_list": false, "purge_read_messages": false, "clear_cache": false, "cancel_all_orders": false,
		"updateRecord": false, "slack_post_message": false, "set_list_title": false, "logout": false,
		"get_set_members": true, "list_post_updates": true, "search_archive": true, "dataset_info": true, "settings": true,
		"get_delete_marker": true, "listCreateEvents": true, "search": true, "get_commit": true, "undeleted": true,
	} {
		all, skipped := cases.Plan([]probe.Tool{tool(name, closedSchema, true)}, cases.Options{NoProtocol: true})
		if real := named(all, probe.CaseNonexistent) != nil; real != believed || (len(skipped) == 0) != believed {
			t.Errorf("%s is called for real: %v, skipped: %v", name, real, skipped)
		}
	}
	yes := true
	both := probe.Tool{Name: "tidy", InputSchema: json.RawMessage(closedSchema), Annotations: probe.Annotations{ReadOnly: &yes, Destructive: &yes}}
	all, _ := cases.Plan([]probe.Tool{both}, cases.Options{NoProtocol: true})
	if named(all, probe.CaseNonexistent) != nil {
		t.Error("a tool that may destroy something is called for real, because it says that it only reads")
	}
}

// TestDestructiveToolWithoutArgumentsIsNotCalled has an argument of a wrong type that a lax server drops before it
// carries out the call.
func TestDestructiveToolWithoutArgumentsIsNotCalled(t *testing.T) {
	t.Parallel()
	yes := true
	for name, hint := range map[string]*bool{"tidy": &yes, "clear_cache": nil, "cancel_all_orders": nil} {
		one := tool(name, `{"type":"object","properties":{"force":{"type":"boolean"}}}`, false)
		one.Annotations.Destructive = hint
		all, _ := cases.Plan([]probe.Tool{one}, cases.Options{NoProtocol: true})
		for i := range all {
			t.Errorf("%s is called with %s", name, all[i].Params)
		}
	}
}

func TestUntypedArgumentHasNoWrongType(t *testing.T) {
	t.Parallel()
	all, _ := cases.Plan([]probe.Tool{tool("get", `{"type":"object","properties":{"any":{}},"required":["any"]}`, true)}, cases.Options{NoProtocol: true})
	if c := named(all, probe.CaseWrongType); c != nil {
		t.Errorf("it is asked %s", c.Params)
	}
}
