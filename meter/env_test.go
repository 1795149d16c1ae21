package meter_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/meter"
)

func TestFromEnvSwitchValues(t *testing.T) {
	for value, want := range map[string]bool{
		"1": true, "true": true, "TRUE": true, "Yes": true, "on": true, " 1 ": true,
		"": false, "0": false, "false": false, "No": false, "OFF": false,
	} {
		_, on, err := meter.FromEnv(env{"MCP_ERROR_METRICS": value}.get)
		if err != nil || on != want {
			t.Errorf("%q: on %v, error %v", value, on, err)
		}
	}
	for _, value := range []string{"2", "ja", "truee", "1\n2", strings.Repeat("y", 1<<20)} {
		_, on, err := meter.FromEnv(env{"MCP_ERROR_METRICS": value}.get)
		if err == nil || on {
			t.Errorf("%.20q is accepted", value)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "true") || !strings.Contains(text, "MCP_ERROR_METRICS") || len(text) > 512 {
			t.Errorf("%.20q: the error does not name the setting and the accepted values in brief: %.600s", value, text)
		}
	}
}

func TestFromEnv(t *testing.T) {
	set := env{"MCP_ERROR_METRICS": "on", "MCP_ERROR_METRICS_SAMPLE": " bucket:0.5/3 ", "MCP_ERROR_METRICS_FILE": "last.json"}
	got, on, err := meter.FromEnv(set.get)
	want := meter.Options{Sample: meter.Sample{Rate: 0.5, Burst: 3}, File: "last.json"}
	if err != nil || !on || got != want {
		t.Errorf("got %+v, %v, %v", got, on, err)
	}
	set["MCP_ERROR_METRICS"] = "off"
	if got, on, err := meter.FromEnv(set.get); err != nil || on || got != (meter.Options{}) {
		t.Errorf("off: got %+v, %v, %v", got, on, err)
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, bad := range []meter.Options{
		{MaxTools: -1}, {MaxTools: 1 << 30}, {Sample: meter.Sample{Every: -1}}, {Sample: meter.Sample{Every: 2, Rate: 1, Burst: 1}},
		{Sample: meter.Sample{Rate: 1}}, {File: "no such folder/last.json"},
	} {
		if _, err := meter.New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

type env map[string]string

func (e env) get(name string) string { return e[name] }
