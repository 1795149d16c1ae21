package redactjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

func clean(t *testing.T, text string) string {
	t.Helper()
	v, err := wire.ParseValue([]byte(text), wire.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, changed := redactjson.Cleaner{}.Append(nil, v)
	if !json.Valid(out) {
		t.Fatalf("%s became %s, which is not JSON", text, out)
	}
	if changed == (string(out) == text) {
		t.Errorf("%s became %s, reported as changed: %t", text, out, changed)
	}
	again, err := wire.ParseValue(out, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if twice, _ := (redactjson.Cleaner{}).Append(nil, again); string(twice) != string(out) {
		t.Errorf("not stable: %s became %s", out, twice)
	}
	return string(out)
}

func TestSecretsInValuesAreRemoved(t *testing.T) {
	for _, form := range []string{
		`{"password":"%"}`, `{"pw":"%"}`, `{"token":48151623}`, `{"otp_token":48151623}`, `{"name":"password","value":"%"}`, `{"value":"%","name":"password"}`,
		`{"key":"DB_PASSWORD","value":"%"}`, `{"field":"password","rejectedValue":"%","message":"too weak"}`, `{"loc":["body","password"],"input":"%","msg":"too short"}`,
		`{"path":"/user/password","received":"%"}`, `{"instancePath":"/user/password","data":"%"}`, `{"headers":[{"name":"Authorization","value":"%"}]}`,
		`["--password","%"]`, `["run","--api-key","%","--verbose"]`, `{"args":["--token","%"]}`, `{"credentials":{"login":"x","pin":"%"}}`,
		`{"credentials":[{"login":"x","pin":"%"}]}`, `{"cookies":{"sid":"%"}}`, `{"cookies":[{"name":"sid","value":"%"}]}`, `{"secrets":{"db":"%"}}`,
		`{"token":{"value":"%","type":"bearer"}}`, `{"text":"{\"value\":\"%\",\"name\":\"password\"}"}`, `{"text":"{\"credentials\":{\"pin\":\"%\"}}"}`,
		`{"text":"  [\"--password\",\"%\"]"}`, `{"ak":"AB12%34"}`, `{"a":["x-api-key","q1%99"]}`, `{"key":"q1%99"}`,
		`{"path":"/api_key","example":"%"}`, `{"aws_sk":"s9%"}`, `{"AK":"AK1%"}`, `{"pass":"q1%9"}`, `{"psw":"%"}`, `{"ak":"AK1%"}`, `{"sk":"s9%"}`,
		`{"content":[{"type":"text","text":"password="},{"type":"text","text":"%9 and more"}]}`, `[{"type":"text","text":"api_key: "},{"text":"q1%9x7"}]`, `["login with password=","%7"]`,
		`[{"text":"password"},{"text":"="},{"text":"%9"}]`, `[{"text":"Authorization: Bearer"},{"text":"%9"}]`, `[{"text":"The password is"},{"text":"%9, she said"}]`,
		`[{"text":"x\npassword=\n"},{"text":""},{"text":" \n%9"}]`, `[{"text":"--password"},{"text":"%9"}]`, `[{"text":"password="},{"resource":{"uri":"a://b","text":"%9"}}]`,
		`[{"text":"password=\""},{"text":"%9\""}]`,
	} {
		out := clean(t, strings.ReplaceAll(form, "%", "zebracrossing"))
		if strings.Contains(out, "crossing") || strings.Contains(out, "4815") {
			t.Errorf("left in %s", out)
		}
	}
}

func TestHarmlessValuesStay(t *testing.T) {
	for _, text := range []string{
		`{"pass":"yes"}`, `{"pass":"3 of 4"}`, `{"pass":12,"fail":3}`, `{"pk":"USER#1","sk":"ORDER#2024"}`, `[{"text":"password="},{"type":"image"},{"text":"zebra9crossing"}]`,
		`[{"text":"The files are:"},{"text":"a1b2c3.txt"}]`, `[{"text":"The password is"},{"text":"wrong"}]`, `["token=[redacted:token]","refused9x"]`, `["password","user2"]`, `{"errors":{"password":["is too short"]}}`, `{"errors":{"password":"must be at least 8 characters"}}`, `{"password":null,"token":true,"secret":""}`,
		`{"properties":{"password":{"type":"string","minLength":8,"description":"At least 8 characters."}},"required":["user","password"]}`,
		`["username","password","email"]`, `{"fields":["password","confirmation"]}`, `{"name":"password","message":"Password is required"}`,
		`{"path":"/password","rule":"minLength","message":"too short","expected":{"minLength":8},"got":"string"}`, `{"usage":{"total_tokens":123456,"max_token":4096}}`,
		`{"next_page_token":"CAoQAA"}`, `{"name":"city","value":"Rome"}`, `{"key":"title","value":"The zebra crossing"}`, `{"token":12}`, `{"a" : 1.0 , "b":[ ]}`,
		`{"loc":["body","password"],"input":"","msg":"required"}`, `{"arn":"arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf"}`,
		`{"code":"E1","id":9007199254740993}`,
	} {
		if out := clean(t, text); out != text {
			t.Errorf("%s\nbecame %s", text, out)
		}
	}
}

func TestFixedMembersAreCopied(t *testing.T) {
	v, err := wire.ParseValue([]byte(`{"id":"password=zebra4711","result":"password=zebra4711"}`), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := redactjson.Cleaner{Fixed: func(name string) bool { return name == "id" }}.Append(nil, v)
	if want := `{"id":"password=zebra4711","result":"password=[redacted:password]"}`; string(out) != want {
		t.Errorf("got %s, want %s", out, want)
	}
}

func TestPolicyDecidesOnPaths(t *testing.T) {
	if got := (redactjson.Cleaner{Policy: redact.Policy{KeepPaths: true}}).Text("open /home/ann/x.txt"); got != "open /home/ann/x.txt" {
		t.Errorf("got %q", got)
	}
}

func FuzzAppend(f *testing.F) {
	for _, s := range []string{`{"password":"x"}`, `{"name":"password","value":["a",{"b":1}]}`, `["--token","x"]`, `{"t":"{\"pw\":\"x\"}"}`, `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := wire.ParseValue(data, wire.Limits{})
		if err != nil {
			return
		}
		out, changed := redactjson.Cleaner{}.Append(nil, v)
		if !json.Valid(out) {
			t.Errorf("%q became %q", data, out)
		}
		if !changed && string(out) != string(v.Raw()) {
			t.Errorf("%q became %q unreported", data, out)
		}
	})
}
